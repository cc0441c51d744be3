import type { FileUIPart } from 'ai';
import type { ContextStore } from 'contextree';
import { attachmentsFrom, bytesOf } from './attachments.ts';
import { adoptFiles, changeUnsentFiles, unsent, type UnsentFile } from './unsentFiles.ts';

/** The state of a message that was sent before this page, or this view of the chat, began. */
export type Fate = 'saved' | 'on its way' | 'lost';

/** What became of files that were given: those that lie beside the box now, and a sentence for each that does not. */
interface Attached {
  readonly files: readonly UnsentFile[];
  readonly refusals: readonly string[];
}

/** The files that lie beside the box, for the next message. */
export interface Tray {
  /** The files, in the order in which they came; up to date also between two presses in one task. */
  readonly files: () => readonly UnsentFile[];
  readonly subscribe: (listener: () => void) => () => void;
  /** Reads files, one after another, and puts them there. Never rejects. */
  readonly attach: (files: readonly File[]) => Promise<Attached>;
  readonly remove: (file: UnsentFile) => void;
  /** Takes all files out, to be sent. They are kept until the message that they belong to is saved. */
  readonly release: () => readonly FileUIPart[];
  /** Resolves when every file that was given is read; undefined where none is being read. */
  readonly whenRead: () => Promise<unknown> | undefined;
  /**
   * Restores the chat's kept files: those never sent, and those of a lost message, of this tab or a closed one. Never rejects.
   */
  readonly bringBack: (fateOf: (messageId: string) => Fate) => Promise<void>;
}

/** A tray for a chat; what lies there is kept in the store. */
export function createTray(store: ContextStore, chatId: string): Tray {
  let files: readonly UnsentFile[] = [];
  let reading: Promise<unknown> = Promise.resolve();
  let pending = 0;
  const listeners = new Set<() => void>();
  const show = (next: readonly UnsentFile[]): void => {
    files = next;
    for (const listener of listeners) listener();
  };
  const keep = (change: Parameters<typeof changeUnsentFiles>[2]): Promise<readonly UnsentFile[]> =>
    changeUnsentFiles(store, chatId, change);

  const take = async (given: readonly File[]): Promise<Attached> => {
    const { parts, refusals } = await attachmentsFrom(given, bytesIn(files));
    const added = unsent(parts);
    if (added.length > 0) {
      show([...files, ...added]);
      void keep((kept) => [...kept, ...added]);
    }
    return { files: added, refusals };
  };
  return {
    files: () => files,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    attach: (given) => {
      const turn = reading.then(() => take(given));
      reading = turn.finally(() => (pending -= 1));
      pending += 1;
      return turn;
    },
    remove: ({ id }) => {
      show(files.filter((file) => file.id !== id));
      void keep((kept) => kept.filter((file) => file.id !== id));
    },
    release: () => {
      const parts = files.map(({ part }) => part);
      if (parts.length > 0) show([]);
      return parts;
    },
    whenRead: () => (pending > 0 ? reading : undefined),
    bringBack: async (fateOf) => {
      await adoptFiles(store, chatId);
      const kept = await keep((kept) => withoutSaved(kept, fateOf));
      const back = kept.filter(({ id, sentWith }) => !sentWith && !files.some((file) => file.id === id));
      if (back.length > 0) show([...back, ...files]);
    },
  };
}

function bytesIn(files: readonly UnsentFile[]): number {
  return files.reduce((sum, { part }) => sum + bytesOf(part), 0);
}

/** Forgets saved files, and makes those of lost messages unsent again. */
function withoutSaved(
  kept: readonly UnsentFile[],
  fateOf: (messageId: string) => Fate,
): readonly UnsentFile[] {
  if (kept.every(({ sentWith }) => !sentWith || fateOf(sentWith) === 'on its way')) return kept;
  return kept.flatMap((file) => {
    const fate = file.sentWith && fateOf(file.sentWith);
    if (fate === 'saved') return [];
    return fate === 'lost' ? [{ id: file.id, part: file.part }] : [file];
  });
}

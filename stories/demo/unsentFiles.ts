import { generateId, type FileUIPart } from 'ai';
import type { ContextStore } from 'contextree';

/**
 * Files that were attached and not yet sent, or sent and not yet saved.
 *
 * They are kept for the same reason as unsent words, and forgotten at the same moments. They are too large for
 * `localStorage`, so they lie among the app's own values in the store, one value per chat; what the store refuses to
 * keep lives as long as the page that shows it. Changes of one chat go one after another, so none is lost to a race.
 */

/** A file that waits to be sent. */
export interface UnsentFile {
  /** Tells it from another file of the same name. */
  readonly id: string;
  readonly part: FileUIPart;
  /** The message that it left with, for as long as that one is not saved. */
  readonly sentWith?: string;
}

type Files = readonly UnsentFile[];

const keyOf = (chatId: string): string => `demo:files:${chatId}`;
const lines = new Map<string, Promise<unknown>>();

/** New parts, as files that wait to be sent. */
export function unsent(parts: readonly FileUIPart[]): Files {
  return parts.map((part) => ({ id: generateId(), part }));
}

/** Changes the files that are kept for a chat, and gives what is kept then. Never rejects. */
export function changeUnsentFiles(
  store: ContextStore,
  chatId: string,
  change: (files: Files) => Files,
): Promise<Files> {
  const next = (lines.get(chatId) ?? Promise.resolve()).then(async () => {
    const before = await kept(store, chatId);
    const after = change(before);
    if (after !== before) await keep(store, chatId, after);
    return after;
  });
  lines.set(chatId, next);
  return next;
}

/** Takes the files that are kept for a chat away from it. Never rejects. */
export async function takeUnsentFiles(store: ContextStore, chatId: string): Promise<Files> {
  let taken: Files = [];
  await changeUnsentFiles(store, chatId, (files) => {
    taken = files;
    return files.length === 0 ? files : [];
  });
  return taken;
}

/** Keeps the files that leave with a message now. The returned function forgets them, when they are saved. */
export function keepSentFiles(
  store: ContextStore,
  chatId: string,
  messageId: string,
  parts: readonly FileUIPart[],
): () => void {
  const change = (act: (files: Files) => Files): void => void changeUnsentFiles(store, chatId, act);
  change((files) => files.map((file) => (isAmong(file, parts) ? { ...file, sentWith: messageId } : file)));
  return () => change((files) => files.filter(({ sentWith }) => sentWith !== messageId));
}

function isAmong({ part, sentWith }: UnsentFile, parts: readonly FileUIPart[]): boolean {
  return (
    sentWith === undefined &&
    parts.some(({ url, filename }) => url === part.url && filename === part.filename)
  );
}

async function kept(store: ContextStore, chatId: string): Promise<Files> {
  try {
    return (await store.get<Files>(keyOf(chatId))) ?? [];
  } catch {
    return [];
  }
}

async function keep(store: ContextStore, chatId: string, files: Files): Promise<void> {
  try {
    await (files.length === 0 ? store.delete(keyOf(chatId)) : store.set(keyOf(chatId), files));
  } catch {
    // The page shows them still, and can send them.
  }
}

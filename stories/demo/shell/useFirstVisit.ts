import type { ContextStore } from 'contextree';
import type { Body, ChatRecords, MessageRecord, StoreDelta } from 'contextree/store';
import { useState } from 'react';
import { local } from '../safeStorage.ts';
import { hasUnsentChat } from '../unsent.ts';
import { USER } from './Workspace.ts';

/**
 * The first visit opens on a finished chat.
 *
 * Whether this is the first visit is known only after the store was read, and nobody should wait for that: the chat is opened
 * at once, and its first read decides. On a first visit the read returns the records of the finished chat, while they are still
 * being written. Otherwise it returns what is stored, which is nothing, and the app opens the chat that it would have opened.
 */
export interface FirstChat {
  readonly id: string;
  /** Its records. Their code comes when it is called. */
  readonly records: () => Promise<StoreDelta>;
}

/** Where the app begins. */
export interface FirstVisit {
  /** The store, which has the first chat before the disk has it. */
  readonly store: ContextStore;
  /** `open`: not known yet; `yes`: the first chat is shown. */
  readonly isFirst: 'open' | 'yes' | 'no';
}

/** Finds out whether this is the first visit, unless the address names a chat. */
export function useFirstVisit(
  given: ContextStore,
  first: FirstChat | undefined,
  isAddressed: boolean,
): FirstVisit {
  const [isFirst, setFirst] = useState<FirstVisit['isFirst']>(() =>
    first && !isAddressed && !hasUnsentChat() && local.get(VISITED) === null ? 'open' : 'no',
  );
  const [store] = useState(() => {
    if (!first || isFirst === 'no') return given;
    return storeOfFirstVisit(given, first, (found) => {
      noteVisit();
      setFirst(found ? 'yes' : 'no');
    });
  });
  return { store, isFirst };
}

/** Notes that this browser has visited. */
export function noteVisit(): void {
  local.set(VISITED, 'yes');
}

const VISITED = 'demo:visited';

/** A store that contains the first chat if nothing was ever stored. Calls `decided`, and calls it again if the disk refuses. */
function storeOfFirstVisit(
  store: ContextStore,
  { id, records }: FirstChat,
  decided: (isFirst: boolean) => void,
): ContextStore {
  let deciding: Promise<ChatRecords> | undefined;
  let ahead: StoreDelta | undefined;
  let written: Promise<unknown> = Promise.resolve();

  const decide = async (): Promise<ChatRecords> => {
    const [read, chats, delta] = await Promise.all([
      store.load(id),
      store.listChats({ limit: 1 }),
      records(),
    ]);
    const { database, generation, seq: since, deleted, messages } = read;
    const isFirst = chats.length + deleted.length + messages.length + generation === 0;
    decided(isFirst);
    if (!isFirst) return read;
    ahead = delta;
    written = store.commit(id, delta, { userId: USER, database, generation, since }).then(
      () => (ahead = undefined),
      () => decided(false),
    );
    return { ...read, ...delta };
  };
  const load: ContextStore['load'] = async (chatId, since) => {
    if (chatId !== id) return store.load(chatId, since);
    if (!deciding) {
      deciding = decide();
      deciding.catch(() => decided(false));
      return deciding;
    }
    await written;
    return store.load(chatId, since);
  };
  const bodies: ContextStore['bodies'] = async (chatId, keys, known) => {
    if (chatId !== id || !ahead) return store.bodies(chatId, keys, known);
    const asked = ahead.messages.filter(({ key }) => keys.includes(key));
    return new Map(asked.flatMap(bodiesOf));
  };
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'load') return load;
      if (name === 'bodies') return bodies;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function bodiesOf({ key, versions }: MessageRecord): [string, Body][] {
  return versions.flatMap(({ rev, by, sum, body }) => (body ? [[key, { rev, by, sum, message: body }]] : []));
}

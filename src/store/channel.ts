import type { StoreNotice } from './store.ts';

/**
 * How tabs tell each other that something changed: ids and numbers, never content.
 *
 * Everything of one origin can speak on a channel, also an older or newer version of this package. What does not look
 * exactly like a notice is not heard. A tab that was frozen misses messages, so a notice is a hint to look, not the
 * change itself: who hears it asks the store for the difference. Where the platform has no channels, tabs hear nothing.
 */
export interface Channel {
  tell(notice: StoreNotice): void;
  close(): void;
}

/** Format version of the messages. */
const VERSION = 1;

/** Joins the tabs that use this database. */
export function openChannel(database: string, hear: (notice: StoreNotice) => void): Channel | undefined {
  if (typeof BroadcastChannel === 'undefined') return undefined;
  const channel = new BroadcastChannel(`contextree:${database}`);
  // In Node, which runs tests and servers, a channel must not keep the process alive.
  (channel as { unref?: () => void }).unref?.();
  channel.onmessage = (event) => {
    const notice = parseNotice(event.data);
    if (notice) hear(notice);
  };
  return {
    tell({ kind, chatId, id, seq }) {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches one origin only
      channel.postMessage({ v: VERSION, kind, chatId, id, seq });
    },
    close() {
      channel.close();
    },
  };
}

const KINDS: readonly unknown[] = ['change', 'draft', 'clear'];

function parseNotice(data: unknown): StoreNotice | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const { v, kind, chatId, id, seq } = data as Record<string, unknown>;
  if (v !== VERSION || !KINDS.includes(kind) || typeof seq !== 'number' || !isName(chatId) || !isName(id))
    return undefined;
  const names = { ...(chatId === undefined ? {} : { chatId }), ...(id === undefined ? {} : { id }) };
  return { kind: kind as StoreNotice['kind'], ...names, seq, remote: true };
}

function isName(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

import { generateId, type FileUIPart } from 'ai';
import type { ContextStore } from 'contextree';
import { encodeId } from './address.ts';
import { local } from './safeStorage.ts';
import { goneOf, insteadOf, thisTab } from './tab.ts';

/**
 * Files that were attached and not yet sent, or sent and not yet saved.
 *
 * They are kept for the same reason as unsent text, and forgotten at the same moments. They belong to a chat and to a tab, as
 * text does. They are too large for `localStorage`, so they are among the app's own values in the store, one value for each
 * chat and tab; `localStorage` notes their names, so that those of a closed tab are found. Each value has one writer, which
 * also holds it in memory: what the store refuses to keep, or another tab deletes with the chat, stays as long as the page.
 */

/** A file that waits to be sent. */
export interface UnsentFile {
  /** Tells it from another file of the same name. */
  readonly id: string;
  readonly part: FileUIPart;
  /** The message that it was sent with, until that is saved. */
  readonly sentWith?: string;
}

type Files = readonly UnsentFile[];

const placesOf = (chatId: string): string => `demo:files:${encodeId(chatId)}:`;

/** What this tab has by chat, when all that was asked so far is done. */
const held: WeakMap<ContextStore, Map<string, Promise<Files>>> = new WeakMap();

/** New parts, as files that wait to be sent. */
export function unsent(parts: readonly FileUIPart[]): Files {
  return parts.map((part) => ({ id: generateId(), part }));
}

/** Changes the files that this tab keeps for a chat, and gives what it keeps then. Never rejects. */
export function changeUnsentFiles(
  store: ContextStore,
  chatId: string,
  change: (files: Files) => Files,
): Promise<Files> {
  return inTurn(store, chatId, async (before, place) => {
    const after = change(before);
    if (after !== before) await keep(store, place, after);
    return after;
  });
}

/** Takes over what tabs that are gone have left in a chat. Never rejects. */
export async function adoptFiles(store: ContextStore, chatId: string): Promise<void> {
  const own = await thisTab();
  const others = local.keys(placesOf(chatId)).map((place) => place.slice(placesOf(chatId).length));
  const gone = await goneOf(others.filter((tab) => tab !== own));
  await inTurn(store, chatId, async (before, here) => {
    let files = before;
    for (const tab of gone)
      await insteadOf(tab, async () => {
        const place = placesOf(chatId) + tab;
        const known = new Set(files.map(({ id }) => id));
        files = [...files, ...(await kept(store, place)).filter(({ id }) => !known.has(id))];
        if (await keep(store, here, files)) await keep(store, place, []);
      });
    return files;
  });
}

/** Takes the files that this tab keeps for a chat away from it. Never rejects. */
export async function takeUnsentFiles(store: ContextStore, chatId: string): Promise<Files> {
  let taken: Files = [];
  await changeUnsentFiles(store, chatId, (files) => {
    taken = files;
    return files.length === 0 ? files : [];
  });
  return taken;
}

/** Forgets the files of a chat, other tabs' included. The returned function brings them back. Neither rejects. */
export async function forgetFiles(store: ContextStore, chatId: string): Promise<() => Promise<void>> {
  const own = await takeUnsentFiles(store, chatId);
  const others = await Promise.all(
    local.keys(placesOf(chatId)).map(async (place) => [place, await kept(store, place)] as const),
  );
  for (const [place] of others) await keep(store, place, []);
  return async () => {
    for (const [place, files] of others) await keep(store, place, files);
    if (own.length > 0) await changeUnsentFiles(store, chatId, (files) => [...own, ...files]);
  };
}

/** Forgets what this page holds in memory, after the store was cleared. */
export function forgetHeldFiles(store: ContextStore): void {
  held.delete(store);
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

/** One after another, so that none is lost to a race. */
function inTurn(
  store: ContextStore,
  chatId: string,
  act: (files: Files, place: string) => Promise<Files>,
): Promise<Files> {
  const chats = held.get(store) ?? new Map<string, Promise<Files>>();
  held.set(store, chats);
  const before = chats.get(chatId);
  const next = thisTab().then(async (tab) => {
    const place = placesOf(chatId) + tab;
    return act(await (before ?? kept(store, place)), place);
  });
  chats.set(chatId, next);
  return next;
}

async function kept(store: ContextStore, place: string): Promise<Files> {
  try {
    return (await store.get<Files>(place)) ?? [];
  } catch {
    return [];
  }
}

/** Whether the store took them; if not, this page shows them still, and can send them. */
async function keep(store: ContextStore, place: string, files: Files): Promise<boolean> {
  try {
    await (files.length === 0 ? store.delete(place) : store.set(place, files));
    local.set(place, files.length === 0 ? null : 'kept');
    return true;
  } catch {
    return false;
  }
}

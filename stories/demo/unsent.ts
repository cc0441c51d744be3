import { encodeId } from './address.ts';
import type { Fate } from './attachmentTray.ts';
import { local, session } from './safeStorage.ts';
import { goneOf, insteadOf, thisTab } from './tab.ts';

/**
 * Words that were typed and not yet sent.
 *
 * They belong to a chat and to a tab: two tabs on one chat may hold two half-written questions. So each tab keeps its
 * own in `sessionStorage`, which a reload leaves alone, and a copy in `localStorage` for the day when the tab is gone:
 * whoever opens the chat next, in a tab that is there, takes it over.
 *
 * Words that were sent are on their way to the disk. Whoever reloads in that moment, or has a disk that refuses, finds
 * them in the box again: they are forgotten when the question is saved, and no sooner.
 *
 * A half-written edit is kept in the same way, under its message. What belongs to a chat goes when the chat is deleted.
 *
 * A chat that nothing was sent to has no record in the store. It is only an id that this tab remembers, one at a
 * time: whoever leaves a half-written first question and presses "New chat" again finds it there.
 */

/** Where this tab has its own, and where the copies of all begin: the id of the tab follows. */
const textOf = (chatId: string): string => `demo:unsent:${encodeId(chatId)}:`;
const sentOf = (chatId: string): string => `demo:sent:${encodeId(chatId)}:`;
const editsOf = (chatId: string): string => `demo:edit:${encodeId(chatId)}:`;
/** Where it is kept what was seen of a chat. */
export const seenOf = (chatId: string): string => `demo:seen:${encodeId(chatId)}:`;
const NEW_CHAT = 'demo:new-chat';

/**
 * The unsent text of a chat, after words that were sent and never saved; empty when there is none. Where this tab has
 * none, that of others.
 */
export function unsentText(chatId: string): string {
  const copies = local.keys(textOf(chatId)).map((key) => local.get(key));
  const typed = typedText(chatId) || joined(copies);
  return joined([...sentKeys(chatId).map(read), typed]);
}

/** Gives the unsent text of a chat away, to another chat. */
export function takeUnsentText(chatId: string): string {
  const text = unsentText(chatId);
  for (const key of sentKeys(chatId)) keep(key, '');
  if (typedText(chatId) === '') for (const key of local.keys(textOf(chatId))) local.set(key, null);
  keepUnsentText(chatId, '');
  return text;
}

/** What was typed in a chat in this tab and not sent, without what was sent and not saved. */
export function typedText(chatId: string): string {
  return held.get(textOf(chatId))?.text ?? session.get(textOf(chatId)) ?? '';
}

/** Takes over what was typed in a chat in tabs that are gone: before what this tab has. Never rejects. */
export async function adoptText(chatId: string, onAdopted: (text: string) => void): Promise<void> {
  const own = await thisTab();
  const others = local.keys(textOf(chatId)).map((key) => key.slice(textOf(chatId).length));
  for (const tab of await goneOf(others.filter((tab) => tab !== own))) {
    await insteadOf(tab, async () => {
      const key = textOf(chatId) + tab;
      const left = local.get(key);
      if (left === null) return;
      const text = joined([left, typedText(chatId)]);
      keepUnsentText(chatId, text);
      local.set(key, null);
      onAdopted(text);
    });
  }
}

/**
 * Gives the sent words of a chat back whose message was lost, and forgets those whose message was saved after all.
 * Those that are on their way stay kept.
 */
export function takeLostText(chatId: string, fateOf: (messageId: string) => Fate): string {
  const lost = sentKeys(chatId).flatMap((key) => {
    const fate = fateOf(messageOf(key));
    if (fate === 'on its way') return [];
    const text = read(key);
    keep(key, '');
    return fate === 'lost' ? [text] : [];
  });
  return joined(lost);
}

/** Texts, one under the other. */
export function joined(texts: readonly (string | null)[]): string {
  return texts.filter((text) => text !== '' && text !== null).join('\n\n');
}

/** Keeps the unsent text of a chat; an empty one is forgotten. */
export function keepUnsentText(chatId: string, text: string): void {
  keepInTime(textOf(chatId), text, () => keepNow(chatId, text));
}

/**
 * Long texts on their way to where they are kept, by place. To store a book for each of its letters would hold up the next
 * one: it is kept when nothing more is typed for a moment, or when the page goes.
 */
const held = new Map<string, { readonly text: string; readonly keep: () => void }>();
let resting: ReturnType<typeof setTimeout> | undefined;
/** Code units that are stored at once, and the pause after which more are, in ms. */
const LONG = 20_000;
const REST = 400;

function keepInTime(place: string, text: string, keepIt: () => void): void {
  held.delete(place);
  if (text.length <= LONG) return keepIt();
  held.set(place, { text, keep: keepIt });
  clearTimeout(resting);
  resting = setTimeout(keepHeld, REST);
}

function keepHeld(): void {
  clearTimeout(resting);
  for (const one of held.values()) one.keep();
  held.clear();
}

if (typeof addEventListener === 'function') addEventListener('pagehide', keepHeld);

/** Forgets what this page holds back, after all was cleared. */
export function forgetHeldWords(): void {
  clearTimeout(resting);
  held.clear();
}

function keepNow(chatId: string, text: string): void {
  const value = text === '' ? null : text;
  session.set(textOf(chatId), value);
  void thisTab().then((tab) => local.set(textOf(chatId) + tab, value));
}

/**
 * Keeps words that left the box in a message and are not safe yet, after those that wait already. The returned
 * function forgets them, when they are.
 */
export function keepSentText(chatId: string, messageId: string, text: string): () => void {
  const last = sentKeys(chatId).at(-1)?.slice(sentOf(chatId).length) ?? '0';
  const key = `${sentOf(chatId)}${String(Number.parseInt(last, 10) + 1).padStart(6, '0')}:${messageId}`;
  keep(key, text);
  return () => keep(key, '');
}

/** Where sent words of a chat wait, in the order in which they were sent. */
function sentKeys(chatId: string): readonly string[] {
  const keys = [session, local].flatMap((storage) => storage.keys(sentOf(chatId)));
  return [...new Set(keys)].toSorted();
}

/** The message that sent words left with. */
function messageOf(sentKey: string): string {
  return sentKey.slice(sentKey.lastIndexOf(':') + 1);
}

/** What was typed in place of a message and not sent; empty when there is none. */
export function editedText(chatId: string, messageId: string): string {
  return read(editsOf(chatId) + messageId);
}

/** Keeps what is typed in place of a message; an empty text is forgotten. */
export function keepEditedText(chatId: string, messageId: string, text: string): void {
  keep(editsOf(chatId) + messageId, text);
}

/** Forgets everything that was typed in a chat and not sent, in any tab. The returned function brings it back. */
export function forgetWords(chatId: string): () => void {
  keepHeld();
  const words = [textOf, sentOf, editsOf, seenOf].flatMap((placeOf) =>
    [session, local].flatMap((storage) =>
      storage.keys(placeOf(chatId)).map((key) => ({ storage, key, text: storage.get(key) })),
    ),
  );
  for (const { storage, key } of words) storage.set(key, null);
  return () => {
    for (const { storage, key, text } of words) storage.set(key, text);
  };
}

/** What a tab wrote goes before what another tab left. */
function read(key: string): string {
  return session.get(key) ?? local.get(key) ?? '';
}

function keep(key: string, text: string): void {
  keepInTime(key, text, () => {
    const value = text === '' ? null : text;
    session.set(key, value);
    local.set(key, value);
  });
}

/** The id of this tab's unsent chat; `create` makes it where there is none yet. */
export function unsentChat(create: () => string): string {
  const known = session.get(NEW_CHAT);
  if (known !== null) return known;
  const id = create();
  session.set(NEW_CHAT, id);
  return id;
}

/** Whether this tab has an unsent chat. */
export function hasUnsentChat(): boolean {
  return session.get(NEW_CHAT) !== null;
}

/** Whether a chat is this tab's unsent one: nothing of it is stored. */
export function isNewChat(chatId: string): boolean {
  return session.get(NEW_CHAT) === chatId;
}

/** Notes that a chat has been sent: the next new chat is another one. */
export function chatWasSent(chatId: string): void {
  if (isNewChat(chatId)) session.set(NEW_CHAT, null);
}

import { encodeId } from './address.ts';
import type { Fate } from './attachmentTray.ts';
import { local, session } from './safeStorage.ts';
import { goneOf, insteadOf, tabSoFar, thisTab } from './tab.ts';

/**
 * Text that was typed and not yet sent.
 *
 * It belongs to a chat and to a tab: two tabs on one chat may hold two half-written questions. So each tab keeps its own in
 * `sessionStorage`, which survives a reload, and a copy in `localStorage` for after the tab is closed: the next open tab that
 * shows the chat takes it over.
 *
 * Sent text is on its way to the disk. It is forgotten only when its question is saved, so that a person who reloads in that
 * moment, or whose disk refuses, finds it in the box again.
 *
 * A half-written edit is kept in the same way, under its message. Everything that belongs to a chat is removed when the chat is
 * deleted.
 *
 * A chat in which nothing was sent has no record in the store, only an id that this tab remembers, one at a time: a person who
 * leaves a half-written first question and presses "New chat" again finds it there.
 */

/** The key of this tab's text, and the prefix of all copies, followed by the id of the tab. */
const textOf = (chatId: string): string => `demo:unsent:${encodeId(chatId)}:`;
const sentOf = (chatId: string): string => `demo:sent:${encodeId(chatId)}:`;
const editsOf = (chatId: string): string => `demo:edit:${encodeId(chatId)}:`;
/** The key under which a chat's seen messages are kept. */
export const seenOf = (chatId: string): string => `demo:seen:${encodeId(chatId)}:`;
/** The key under which is kept where a side question begins that was not asked yet. */
export const sideOf = (chatId: string): string => `demo:aside:${encodeId(chatId)}:`;
const NEW_CHAT = 'demo:new-chat';

/**
 * The unsent text of a chat, after text that was sent and never saved; empty for none. Without text of this tab, that of
 * others.
 */
export function unsentText(chatId: string): string {
  return joined([...sentKeys(chatId).map(read), textInBox(chatId)]);
}

/** The text typed in this tab; without one, that of others. */
function textInBox(chatId: string): string {
  // What was just taken out of this tab's box is forgotten in its copy a moment later.
  const copies = local.keys(textOf(chatId)).filter((key) => key !== textOf(chatId) + tabSoFar());
  return typedText(chatId) || joined(copies.map((key) => local.get(key)));
}

/**
 * Takes the unsent text of a chat, to move it to another one; with unanswered questions, by their ids, each once and before
 * the text in the box.
 */
export function takeUnsentText(chatId: string, unanswered: ReadonlyMap<string, string> = new Map()): string {
  const sent = sentKeys(chatId).filter((key) => !unanswered.has(messageOf(key)));
  const text = joined([...sent.map(read), ...unanswered.values(), textInBox(chatId)]);
  for (const key of sentKeys(chatId)) keep(key, '');
  if (typedText(chatId) === '') for (const key of local.keys(textOf(chatId))) local.set(key, null);
  keepUnsentText(chatId, '');
  return text;
}

/** The text typed in a chat in this tab and not sent, without text that was sent and not saved. */
export function typedText(chatId: string): string {
  return held.get(textOf(chatId))?.text ?? session.get(textOf(chatId)) ?? '';
}

/** Takes over text typed in the chat in closed tabs, and puts it before this tab's. Never rejects. */
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
 * Returns the sent text of messages that were lost, and forgets that of messages that were saved after all. Text of messages on
 * their way stays.
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
 * Long texts that wait to be stored, by key. Storing a book after each letter would delay the next one: it is stored after a
 * pause in typing, or when the page goes.
 */
const held = new Map<string, { readonly text: string; readonly keep: () => void }>();
let resting: ReturnType<typeof setTimeout> | undefined;
/** The length, in code units, up to which a text is stored at once, and the pause after which a longer one is, in ms. */
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

/** Forgets the texts that wait to be stored, after everything was cleared. */
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
 * Keeps text that was sent and is not saved yet, after text that already waits. The returned function forgets it once it is
 * saved.
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

/** Takes the half-written edits of a chat whose messages are gone. */
export function takeEditedTexts(chatId: string): readonly string[] {
  keepHeld();
  const keys = [session, local].flatMap((storage) => storage.keys(editsOf(chatId)));
  return [...new Set(keys)].map((key) => {
    const text = read(key);
    keep(key, '');
    return text;
  });
}

/** Forgets everything typed in a chat and not sent, in any tab. The returned function restores it. */
export function forgetWords(chatId: string): () => void {
  keepHeld();
  const words = [textOf, sentOf, editsOf, seenOf, sideOf].flatMap((placeOf) =>
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

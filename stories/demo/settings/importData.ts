import { InMemoryContextStore, type ContextStore } from 'contextree';
import type { MessageRecord } from 'contextree/store';
import { counted } from '../quantities.ts';
import { USER } from '../shell/Workspace.ts';
import { calm } from '../titles.ts';
import type { Export, ExportedChat } from './exportData.ts';

/** How much of a file was new. */
export interface Imported {
  readonly chats: number;
  readonly messages: number;
  /** The chats that could not be read, in the order of the file: for example "Chat 2 (“Rivers”)". */
  readonly damaged: readonly string[];
}

/**
 * Joins an exported file with what is stored. An existing chat gets what it lacks, so importing a file twice adds nothing; a
 * chat that was deleted here comes back as another chat. Nothing of a damaged chat is imported; the others come in.
 *
 * Rejects with words for the person if the file is no export of this app.
 */
export async function importData(store: ContextStore, text: string): Promise<Imported> {
  let chats = 0;
  let messages = 0;
  const damaged: string[] = [];
  for (const [i, exported] of chatsIn(text).entries()) {
    if (!(await isWhole(exported))) {
      damaged.push(nameOf(exported, i + 1));
      continue;
    }
    const gained = await importChat(store, exported);
    chats += gained > 0 ? 1 : 0;
    messages += gained;
  }
  return { chats, messages, damaged };
}

/** What an import did, as the person is told. */
export function importedInWords({ chats, messages, damaged }: Imported): string {
  const lost = damaged.map((name) => `${name} of this file is damaged, and nothing of it was imported.`);
  if (messages > 0 || lost.length > 0) return [`Imported ${counted(chats, messages)}.`, ...lost].join(' ');
  return 'All of this file is here already.';
}

/** Whether an empty store takes the chat: only then the person's own store sees any of it. */
async function isWhole(exported: ExportedChat): Promise<boolean> {
  try {
    await importChat(new InMemoryContextStore(), exported);
    return typeof exported.chat.id === 'string' && exported.chat.id !== '';
  } catch {
    return false;
  }
}

function nameOf(exported: Partial<ExportedChat> | null, place: number): string {
  const title: unknown = exported?.chat?.title;
  return typeof title === 'string' && title !== '' ? `Chat ${place} (“${calm(title)}”)` : `Chat ${place}`;
}

function chatsIn(text: string): readonly ExportedChat[] {
  const { format, version, chats } = parsed(text);
  if (format === 'contextree-demo' && version === 1 && Array.isArray(chats)) return chats;
  throw new Error('This file was not exported by this app. Choose one that “Export my data” made.');
}

function parsed(text: string): Partial<Export> {
  try {
    return Object(JSON.parse(text)) as Partial<Export>;
  } catch {
    return {};
  }
}

/** How many messages the chat gained. */
async function importChat(store: ContextStore, exported: ExportedChat): Promise<number> {
  const { chat, ends, marks } = exported;
  const id = await placeFor(store, exported);
  const before = await store.load(id);
  const { database, generation } = before;
  const options = { userId: USER, database, generation, since: 0, branchCount: chat.branchCount };
  // Parents first, and last the records that make them reachable.
  const messages = exported.messages.toSorted((a, b) => a.at - b.at);
  for (let i = 0; i < messages.length; i += PIECE)
    await store.commit(id, { messages: messages.slice(i, i + PIECE), ends: [], marks: [] }, options);
  await store.commit(id, { messages: [], ends, marks }, options);
  return (await store.load(id)).messages.length - before.messages.length;
}

/** The most messages that one transaction takes. */
const PIECE = 1000;

/** The id of the chat that these records are joined with: its own, or where that was deleted the next one that was not. */
async function placeFor(store: ContextStore, { chat, messages, marks }: ExportedChat): Promise<string> {
  const keys = new Set([...messages, ...marks].map((record: Pick<MessageRecord, 'chat'>) => record.chat));
  for (let n = 1; ; n += 1) {
    const id = n === 1 ? chat.id : `${chat.id}-${n}`;
    const { deleted } = await store.load(id);
    if (!deleted.some((key) => keys.has(key))) return id;
  }
}

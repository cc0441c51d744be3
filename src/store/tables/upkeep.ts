import {
  type Database,
  messageIn,
  PACK,
  readText,
  type Rows,
  type StoredChat,
  type StoredUse,
  within,
} from './layout.ts';
import { putPack } from './pack.ts';
import { readChat } from './records.ts';
import { sweep } from './removal.ts';

/**
 * Tidies up: writes the note, packs chats that grew, and deletes what can't be restored any more. Returns when the next
 * deletion is due, in ms since epoch; Infinity for never.
 */
export async function tidy(db: Database, chats: readonly string[]): Promise<number> {
  await db.keepNote?.();
  if (db.persistence === 'indexeddb')
    for (const chatId of chats)
      while (await db.write((rows) => packOldest(rows, chatId), true))
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
  const now = Date.now();
  const due = await db.read(nextDue);
  if (due > now) return due;
  await db.write((rows) => sweep(rows, now));
  return db.read(nextDue);
}

async function nextDue(rows: Rows): Promise<number> {
  const [chats, waiting] = await Promise.all([
    rows.all<StoredChat>('chats'),
    rows.all<StoredUse>('uses', within('')),
  ]);
  const times = [...chats.flatMap(({ kept }) => kept ?? []), ...waiting].map(({ until = Infinity }) => until);
  return times.reduce((next, time) => Math.min(next, time), Infinity);
}

/** The pause between two packs, for other transactions, in ms. */
const PAUSE = 20;

/**
 * Packs the oldest single rows of a chat, with a pause after each pack for commits that wait; false for too few rows. A pack's
 * number of rows stays single: a conversation changes its newest messages.
 *
 * A pack is one relaxed transaction, which several tabs may repeat: the second one finds no rows. Unreadable rows and those
 * behind them stay, and so do those of a restorable chat: no pack may have messages of it and of the one that began anew.
 */
async function packOldest(rows: Rows, id: string): Promise<boolean> {
  const places = await rows.keys('nodes', within(id), undefined, 2 * PACK);
  if (places.length < 2 * PACK || (await readChat(rows, id)).kept) return false;
  const nodes = await rows.all<string>('nodes', within(id), undefined, PACK);
  const messages = nodes.flatMap((text) => messageIn(text) ?? []);
  const [first, last] = [messages[0]?.seq, messages.at(-1)?.seq];
  if (messages.length < PACK || first === undefined || last === undefined) return false;
  // Packs do not overlap: rows on both sides of an existing one are packed apart.
  const [between] = await rows.keys('topologies', { from: [id, first], to: [id, last] }, undefined, 1);
  const end = between === undefined ? last : (between as [string, number])[1];
  const packed = messages.filter(({ seq }) => seq <= end);
  const range = { from: [id, first], to: [id, packed.at(-1)?.seq ?? last] };
  const bodies = new Map<number, string>();
  for (const [key, text] of await rows.entries<string>('bodies', range)) {
    if (text === undefined || !readText(text)) return false;
    bodies.set((key as [string, number])[1], text);
  }
  rows.delete('nodes', range);
  rows.delete('bodies', range);
  putPack(
    rows,
    id,
    packed,
    packed.map(({ seq }) => bodies.get(seq)),
  );
  return true;
}

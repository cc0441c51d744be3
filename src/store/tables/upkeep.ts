import {
  type Database,
  messageIn,
  PACK,
  readText,
  type Rows,
  type StoredChat,
  type StoredUse,
  type Table,
  TABLES,
  within,
} from './layout.ts';
import { putPack } from './pack.ts';
import { readChat } from './records.ts';
import { sweep } from './removal.ts';

/**
 * What is done for a database when nobody waits: a note of what there is, chats that grew are sealed, and what it is too late
 * to restore goes.
 * Gives the time when there is something to forget again, ms since epoch; Infinity for never.
 */
export async function tidy(db: Database, chats: readonly string[]): Promise<number> {
  await db.keepNote?.();
  if (db.persistence === 'indexeddb') for (const chatId of chats) await seal(db, chatId);
  const now = Date.now();
  const due = await db.read(['chats', 'uses'], nextDue);
  if (due > now) return due;
  await db.write(TABLES, (rows) => sweep(rows, now));
  return db.read(['chats', 'uses'], nextDue);
}

async function nextDue(rows: Rows): Promise<number> {
  const [chats, waiting] = await Promise.all([
    rows.all<StoredChat>('chats'),
    rows.all<StoredUse>('uses', within('')),
  ]);
  const times = [...chats.flatMap(({ kept = [] }) => kept), ...waiting].map(({ until = Infinity }) => until);
  return times.reduce((next, time) => Math.min(next, time), Infinity);
}

/**
 * Sealing: single rows become packs, later, when nobody waits.
 *
 * A commit must not pay for tidiness, so it never seals, unless it brings so much that packs are the quicker way. After a
 * while, when the browser is idle, the oldest rows are sealed, with a pause after each pack, so that a commit that comes
 * meanwhile waits for one at most, a few milliseconds. What a conversation still changes is among its newest messages,
 * so as many as a pack has are left alone.
 *
 * A pack is sealed in one transaction: read the rows, put the pack, delete the rows. It can be killed at any moment; it
 * happened, or it did not. It can be repeated, and done by several tabs at once: the second one finds no rows. Nobody
 * waits for the disk: what a transaction deletes and what it puts are lost or kept together. Rows that can't be read are
 * left alone, and so are those behind them, until somebody has looked at them. So are those of a chat that was deleted
 * and can be restored: no pack may have messages of it and of the chat that began anew.
 */
async function seal(db: Database, chatId: string): Promise<void> {
  while (await db.write(SEALED, (rows) => sealOldest(rows, chatId), true))
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
}

/** How long others have the database to themselves between two packs, ms. */
const PAUSE = 20;

const SEALED: readonly Table[] = ['chats', 'nodes', 'bodies', 'topologies', 'packs'];

/** Seals the oldest rows of a chat; false when there are too few, or some of them can't be read. */
async function sealOldest(rows: Rows, id: string): Promise<boolean> {
  if ((await rows.count('nodes', within(id))) < 2 * PACK || (await readChat(rows, id)).kept) return false;
  const nodes = await rows.all<string>('nodes', within(id), undefined, PACK);
  const messages = nodes.flatMap((text) => messageIn(text) ?? []);
  const [first, last] = [messages[0]?.seq, messages.at(-1)?.seq];
  if (messages.length < PACK || first === undefined || last === undefined) return false;
  // Packs do not overlap: rows on both sides of one that came at once are sealed apart.
  const [between] = await rows.keys('topologies', { from: [id, first], to: [id, last] }, undefined, 1);
  const end = between === undefined ? last : (between as [string, number])[1];
  const sealed = messages.filter(({ seq }) => seq <= end);
  const range = { from: [id, first], to: [id, sealed.at(-1)?.seq ?? last] };
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
    sealed,
    sealed.map(({ seq }) => bodies.get(seq)),
  );
  return true;
}

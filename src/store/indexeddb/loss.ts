import { createHexId } from '../hexId.ts';
import type { Database, Meta, StoredChat } from '../tables/layout.ts';
import { readMeta } from '../tables/records.ts';
import { type DataLoss, type Mark, writeMark } from './marker.ts';
import { write } from './transaction.ts';

/**
 * Takes note of what a database has lost; `mark` is the note about it, `reason` what the browser said if it found damaged
 * files. One that went on under its name, but lacks its last changes, gets another name: numbers of the old one mean
 * nothing in it, and tabs that were open write all they have. What is gone is told once.
 */
export async function noteLoss(
  name: string,
  db: IDBDatabase,
  mark: Mark | undefined,
  reason: string | undefined,
): Promise<DataLoss> {
  const isLatest = await write(
    db,
    ['meta', 'chats'],
    async (rows) => {
      const meta = await readMeta(rows);
      if (mark?.database !== meta.database || mark.seq <= meta.seq) return false;
      const renewed: Meta = { ...meta, database: createHexId() };
      rows.put('meta', renewed, 'self');
      return true;
    },
    false,
  );
  writeMark(name, undefined);
  return {
    kind: isLatest ? 'latest' : 'all',
    database: name,
    noticedBy: reason === undefined ? 'marker' : 'browser',
    ...(reason === undefined ? {} : { reason }),
    ...(mark ? { chats: mark.chats, messages: mark.messages, lastSaved: mark.at } : {}),
  };
}

/** Writes the note beside a database (`marker.ts`): none for one without chats, which nobody would miss. */
export async function keepNote(name: string, db: Database): Promise<void> {
  const [meta, rows] = await db.read(['meta', 'chats'], (rows) =>
    Promise.all([readMeta(rows), rows.all<StoredChat>('chats')]),
  );
  const chats = rows.flatMap(({ totals }) => totals ?? []);
  const note = {
    database: meta.database,
    seq: meta.seq,
    chats: chats.length,
    messages: chats.reduce((sum, { messages }) => sum + messages, 0),
    at: chats.reduce((last, { updatedAt }) => Math.max(last, updatedAt), 0),
  };
  writeMark(name, chats.length > 0 ? note : undefined);
}

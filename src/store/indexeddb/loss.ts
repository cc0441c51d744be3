import { createHexId, type Database, type Meta, type StoredChat } from '../tables/layout.ts';
import { readMeta } from '../tables/records.ts';
import { write } from './connection.ts';
import { type DataLoss, type DatabaseNote, writeNote } from './marker.ts';

/**
 * Finds out what a database has lost, all or its last changes only; called where something is known to be lost. `note`: the
 * note beside it, `reason`: what the browser said of damaged files. A database without its last changes gets another id, so that
 * open tabs write all they have. A loss is reported once.
 */
export async function noteLoss(
  name: string,
  db: IDBDatabase,
  note: DatabaseNote | undefined,
  reason: string | undefined,
): Promise<DataLoss> {
  const isLatest = await write(
    db,
    async (rows) => {
      const meta = await readMeta(rows);
      if (note?.database !== meta.database || note.seq <= meta.seq) return false;
      const last = await rows.last<StoredChat>('chats', 'seq');
      const renewed: Meta = { ...meta, database: createHexId() };
      rows.put('meta', renewed, 'self');
      if (last) rows.put('chats', { ...last, ...renewed });
      return true;
    },
    false,
  );
  writeNote(name, undefined);
  return {
    kind: isLatest ? 'latest' : 'all',
    database: name,
    noticedBy: reason === undefined ? 'marker' : 'browser',
    ...(reason === undefined ? {} : { reason }),
    ...(note ? { chats: note.chats, messages: note.messages, lastSaved: note.at } : {}),
  };
}

/** Writes the note about a database (`marker.ts`); none without chats. */
export async function keepNote(name: string, db: Database): Promise<void> {
  const [meta, rows] = await db.read((rows) => Promise.all([readMeta(rows), rows.all<StoredChat>('chats')]));
  const chats = rows.flatMap(({ totals }) => totals ?? []);
  const note = {
    database: meta.database,
    seq: meta.seq,
    chats: chats.length,
    messages: chats.reduce((sum, { messages }) => sum + messages, 0),
    at: chats.reduce((last, { updatedAt }) => Math.max(last, updatedAt), 0),
  };
  writeNote(name, chats.length > 0 ? note : undefined);
}

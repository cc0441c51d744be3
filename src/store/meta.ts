import { createHexId } from './hexId.ts';
import type { Meta, Table } from './layout.ts';
import type { Rows } from './rows.ts';

/** The key of the row about the database. */
export const SELF = 'self';

/** The tables that {@link readMeta} may look into. */
export const META: readonly Table[] = ['meta', 'changes'];

/** More changes than are made while a note is late: what comes after a loss is numbered beyond all that came before it. */
export const LATE = 1_000_000;

/** What a database knows about itself; a new one learns its names here, and keeps them with its first write. */
export async function readMeta(rows: Rows): Promise<Meta> {
  const meta = await rows.get('meta', SELF);
  return meta ?? { seq: await lastChange(rows, 0), deviceId: createHexId(), databaseId: createHexId() };
}

/** Where a write goes on in the change sequence. A counter that was set back must not give out numbers twice. */
export async function nextMeta(rows: Rows): Promise<Meta> {
  const meta = await readMeta(rows);
  return { ...meta, seq: await lastChange(rows, meta.seq) };
}

/** The last number of the change sequence, known to be `seq` at least. Costs those that come after. */
export async function lastChange(rows: Rows, seq: number): Promise<number> {
  const later = await rows.list('changes', { from: seq + 1, to: Infinity }, 'seq');
  return later.at(-1)?.seq ?? seq;
}

import { createHexId, type Database, type Rows } from '../tables/layout.ts';

/**
 * Stores a lease for `name`, and renews it until it is released; one older than ten seconds has expired. Several tabs may hold
 * one name, as with shared locks: each has a row.
 */
export async function lease(db: Database, name: string): Promise<() => void> {
  const key = `${PREFIX}${name} ${createHexId()}`;
  const change = (work: (rows: Rows) => void): Promise<void> =>
    db.write(async (rows) => work(rows), true).catch(() => undefined);
  const stamp = (): Promise<void> => change((rows) => rows.put('values', Date.now() + LEASE, key));
  await stamp();
  const timer = setInterval(stamp, LEASE / 3);
  return () => {
    clearInterval(timer);
    void change((rows) => rows.delete('values', key));
  };
}

/** The held names with this beginning. */
export async function leased(db: Database, beginning: string): Promise<string[]> {
  const range = { from: PREFIX + beginning, to: `${PREFIX}${beginning}\uffff` };
  const leases = await db.read((rows) => rows.entries<number>('values', range));
  const now = Date.now();
  // A lease that ends later than any could was stamped before the clock was set back.
  const alive = leases.filter(([, until = 0]) => until > now && until <= now + LEASE);
  return alive.map(([key]) => (key as string).slice(PREFIX.length, (key as string).lastIndexOf(' ')));
}

const PREFIX = 'contextree:lease:';

/** How long a lease lasts, in ms. */
const LEASE = 10_000;

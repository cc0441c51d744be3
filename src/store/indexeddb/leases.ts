import { createHexId, type Database, type Rows } from '../tables/layout.ts';

/**
 * Stamps a lease for `name` into the database, and renews it until it is let go; one older than ten seconds counts for nothing.
 * Several tabs may hold one name, as with locks: each has a row.
 */
export async function lease(db: Database, name: string): Promise<() => void> {
  const key = `${PREFIX}${name} ${createHexId()}`;
  const change = (work: (rows: Rows) => void): Promise<void> =>
    db.write(['values'], async (rows) => work(rows), true).catch(() => undefined);
  const stamp = (): Promise<void> => change((rows) => rows.put('values', Date.now() + LEASE, key));
  await stamp();
  const timer = setInterval(stamp, LEASE / 3);
  return () => {
    clearInterval(timer);
    void change((rows) => rows.delete('values', key));
  };
}

/** The held names that begin so. */
export async function leased(db: Database, beginning: string): Promise<string[]> {
  const range = { from: PREFIX + beginning, to: `${PREFIX}${beginning}\uffff` };
  const leases = await db.read(['values'], (rows) => rows.entries<number>('values', range));
  const now = Date.now();
  // One that ends later than any could was stamped before the clock was set back.
  const alive = leases.filter(([, until = 0]) => until > now && until <= now + LEASE);
  return alive.map(([key]) => (key as string).slice(PREFIX.length, (key as string).lastIndexOf(' ')));
}

const PREFIX = 'contextree:lease:';

/** How long a lease counts, ms. */
const LEASE = 10_000;

/** What a page hands to IndexedDB, in all of its databases, from the moment on when this module is loaded. */
export interface Handed {
  /** Bytes of keys and values as JSON in UTF-8; of what is bytes already, as many as there are. */
  readonly bytes: number;
  /** How many records. */
  readonly records: number;
}

type Take = (handed: readonly unknown[]) => void;

/** Who wants to know of each record. */
const takers = new Set<Take>();

/** Transactions that are not over. */
const open = new Set<IDBTransaction>();

/** Whether a record came since this was last false. */
let came = false;

function hand(transaction: IDBTransaction | null, record: readonly unknown[]): void {
  came = true;
  for (const take of takers) take(record);
  if (transaction === null || open.has(transaction)) return;
  open.add(transaction);
  for (const end of ['complete', 'abort']) transaction.addEventListener(end, () => open.delete(transaction));
}

type Keep = (this: IDBObjectStore, value: unknown, key?: IDBValidKey) => IDBRequest<IDBValidKey>;

const stores: Record<'put' | 'add', Keep> = IDBObjectStore.prototype;
for (const name of ['put', 'add'] as const) {
  const keep = stores[name];
  stores[name] = function (...record) {
    hand(this.transaction, record);
    return keep.apply(this, record);
  };
}

type Update = (this: IDBCursor, value: unknown) => IDBRequest<IDBValidKey>;

const cursors: Record<'update', Update> = IDBCursor.prototype;
const { update } = cursors;
cursors.update = function (value) {
  hand(this.request.transaction, [value]);
  return update.call(this, value);
};

/** Counts what is handed over while something is done, and until it is written. */
export async function handedBy(work: () => Promise<void>): Promise<Handed> {
  const handed = { bytes: 0, records: 0 };
  const take: Take = (record) => {
    handed.records += 1;
    for (const part of record) handed.bytes += bytesOf(part);
  };
  takers.add(take);
  await work();
  await written();
  takers.delete(take);
  return handed;
}

/** Resolves when all is written, and for a while nothing more has come. */
export async function written(): Promise<void> {
  do {
    came = false;
    await new Promise((resolve) => setTimeout(resolve, 300));
  } while (came || open.size > 0);
}

/** As JSON in UTF-8; of buffers, their length; of a text, which may be JSON already, that of its own. */
export function bytesOf(value: unknown): number {
  if (typeof value === 'string') return utf8(value);
  let raw = 0;
  const json = JSON.stringify(value, (_key, part: unknown) => {
    if (!ArrayBuffer.isView(part) && !(part instanceof ArrayBuffer)) return part;
    raw += part.byteLength;
    return undefined;
  });
  return raw + utf8(json ?? '');
}

const utf8 = (text: string): number => new TextEncoder().encode(text).length;

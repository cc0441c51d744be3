import type { UIMessage } from 'ai';
import { IndexedDBContextStore } from '../../../src/store/indexeddb/store.ts';
import type { StoreOp } from '../../../src/store/store.ts';
import type { Question } from './storeSqlite.ts';

/**
 * What a page does to compare stores: the same chats of messages of a kilobyte, kept by ours and by others, who take
 * turns. `store.ts` builds it, opens it in a browser and writes down what it tells.
 */
const LONG = 10_000;
const me = { userId: 'u', epoch: 0, mainBranchId: 'main' };

/** A message as every store here keeps it. */
interface Entry {
  readonly id: string;
  readonly parentId: string | null;
  readonly data: UIMessage;
}

/** About 1 kB of words that do not repeat more than words do. */
function entry(id: string, parentId: string | null, i: number): Entry {
  let seed = i + 1;
  const next = (): number => (seed = (seed * 48_271) % 2_147_483_647);
  const word = (): string => (next() % 46_656).toString(36).padStart(3, 'e') + 'naeo'.charAt(next() % 4);
  const text = Array.from({ length: 190 }, word).join(' ');
  const role = i % 2 === 0 ? 'user' : 'assistant';
  return { id, parentId, data: { id, role, parts: [{ type: 'text', text }] } };
}

const line = (length: number): Entry[] =>
  Array.from({ length }, (_, i) => entry(`m${i}`, i === 0 ? null : `m${i - 1}`, i));

/** A trunk of a hundred, and ninety-nine branches of a hundred each behind it. */
function bush(): Entry[] {
  const branches = Array.from({ length: 99 }, (_, b) =>
    Array.from({ length: 100 }, (_each, i) =>
      entry(`b${b}-${i}`, i === 0 ? 'm99' : `b${b}-${i - 1}`, b * 100 + i),
    ),
  );
  return [...line(100), ...branches.flat()];
}

type Task = 'import' | 'whole chat of 10,000';

/** The end of a branch in the middle of the bush, and how long its chain is. */
const TIP = 'b50-99';
const CHAIN = 200;

/** What is asked of each store. Without an answer where a store has no such question. */
interface Peer {
  /** What it does for a task, where its name does not say so. */
  readonly by?: Readonly<Partial<Record<Task, string>>>;
  /** Forgets all, and keeps these messages of one chat, written at once. Resolves with how long the writing took. */
  fill(entries: readonly Entry[]): Promise<number>;
  /** The messages from the root to one, all of them read from the database. */
  chain?(id: string): Promise<number>;
  /** All messages of the chat. */
  all?(): Promise<number>;
  /** One more message behind the last one, durable. */
  append?(entry: Entry): Promise<void>;
}

const insertOf = ({ id, parentId, data }: Entry): StoreOp => ({
  op: 'insert',
  id,
  parentId,
  data,
  status: 'complete',
});

function ours(): Peer {
  let name = '';
  let store = new IndexedDBContextStore(name, { patience: 60_000 });
  let last = '';
  const read = async (id: string): Promise<number> => (await store.getMessageChain('c', id)).length;
  return {
    async fill(entries) {
      await store.close();
      name = `ours-${crypto.randomUUID()}`;
      store = new IndexedDBContextStore(name, { patience: 60_000 });
      await store.append('c', [], me);
      last = entries.at(-1)?.id ?? '';
      return timed(async () => {
        const head = { op: 'head', branchId: 'main', expected: null, messageId: last, forkId: 'f' } as const;
        await store.append('c', [...entries.map(insertOf), head], me);
      });
    },
    chain: read,
    all: () => read(last),
    async append(one) {
      const head = {
        op: 'head',
        branchId: 'main',
        expected: last,
        messageId: one.id,
        forkId: one.id,
      } as const;
      await store.append('c', [insertOf(one), head], me);
      last = one.id;
    },
  };
}

// --- Dexie ----------------------------------------------------------------------------------------------------------

interface DexieRow extends Entry {
  readonly chatId: string;
  readonly seq: number;
}

interface DexieTable<Row> {
  bulkPut(rows: readonly Row[]): Promise<unknown>;
  put(row: Row): Promise<unknown>;
  get(key: unknown): Promise<Row | undefined>;
  where(index: string | object): {
    equals(value: unknown): { toArray(): Promise<Row[]>; first(): Promise<Row | undefined> };
  };
}

interface DexieDatabase {
  version(n: number): { stores(schema: object): void };
  table<Row>(name: string): DexieTable<Row>;
  transaction(mode: string, tables: readonly string[], work: () => Promise<void>): Promise<void>;
  close(): void;
}

/** The same tables: messages by their place, found by their id; a branch with its head; the chat. */
async function dexie(): Promise<Peer> {
  // Named by a variable: the page is built where the peers may not be installed.
  const module: string = '/dexie.js';
  const { default: Dexie } = (await import(module)) as {
    default: new (name: string, options: object) => DexieDatabase;
  };
  let db: DexieDatabase | undefined;
  let seq = 0;
  const messages = (): DexieTable<DexieRow> => (db as DexieDatabase).table<DexieRow>('messages');
  const rowOf = (one: Entry, at: number): DexieRow => ({ ...one, chatId: 'c', seq: at });
  return {
    by: { import: 'Dexie, bulkPut', 'whole chat of 10,000': 'Dexie, where(chat)' },
    async fill(entries) {
      db?.close();
      db = new Dexie(`dexie-${crypto.randomUUID()}`, { chromeTransactionDurability: 'strict' });
      db.version(1).stores({
        messages: '[chatId+seq], &[chatId+id], chatId',
        branches: '[chatId+id]',
        chats: 'id, userId',
      });
      await db.table('chats').put({ id: 'c', userId: 'u' });
      const rows = entries.map(rowOf);
      seq = entries.length;
      return timed(async () => void (await messages().bulkPut(rows)));
    },
    async chain(id) {
      let length = 0;
      for (let at: string | null = id; at !== null; length += 1)
        at = (await messages().where('[chatId+id]').equals(['c', at]).first())?.parentId ?? null;
      return length;
    },
    all: async () => (await messages().where('chatId').equals('c').toArray()).length,
    async append(one) {
      const own = db as DexieDatabase;
      await own.transaction('rw', ['messages', 'branches', 'chats'], async () => {
        await own.table('branches').get(['c', 'main']);
        await own.table('chats').get('c');
        await messages().put(rowOf(one, (seq += 1)));
        await own.table('branches').put({ chatId: 'c', id: 'main', head: one.id });
        await own.table('chats').put({ id: 'c', userId: 'u', seq });
      });
    },
  };
}

// --- IndexedDB without a library ------------------------------------------------------------------------------------

function openRaw(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => request.result.createObjectStore('messages');
  return answerOf(request);
}

function answerOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('refused'));
  });
}

function ended(tx: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    tx.oncomplete = () => resolve();
    tx.onabort = () => reject(tx.error ?? new Error('aborted'));
  });
}

const writing = (db: IDBDatabase): IDBTransaction =>
  db.transaction('messages', 'readwrite', { durability: 'strict' });

/** A record per message under its id, and a walk from parent to parent. */
function single(): Peer {
  let db: IDBDatabase | undefined;
  return {
    by: { import: 'a put for each message', 'whole chat of 10,000': 'getAll' },
    async fill(entries) {
      db?.close();
      db = await openRaw(`single-${crypto.randomUUID()}`);
      const own = db;
      return timed(async () => {
        const tx = writing(own);
        for (const one of entries) tx.objectStore('messages').put(one, one.id);
        await ended(tx);
      });
    },
    async chain(id) {
      const messages = (db as IDBDatabase).transaction('messages').objectStore('messages');
      let length = 0;
      for (let at: string | null = id; at !== null; length += 1)
        at = ((await answerOf(messages.get(at))) as Entry | undefined)?.parentId ?? null;
      return length;
    },
    all: async () =>
      (await answerOf((db as IDBDatabase).transaction('messages').objectStore('messages').getAll())).length,
    async append(one) {
      const tx = writing(db as IDBDatabase);
      tx.objectStore('messages').put(one, one.id);
      tx.commit();
      await ended(tx);
    },
  };
}

/** All messages as one JSON text, as a store of zustand with `persist` keeps its state. */
function oneText(): Peer {
  let db: IDBDatabase | undefined;
  let state: Entry[] = [];
  const save = async (): Promise<void> => {
    const tx = writing(db as IDBDatabase);
    tx.objectStore('messages').put(JSON.stringify({ state: { messages: state }, version: 0 }), 'chat');
    await ended(tx);
  };
  const read = async (): Promise<Entry[]> => {
    const text = await answerOf(
      (db as IDBDatabase).transaction('messages').objectStore('messages').get('chat'),
    );
    return (JSON.parse(text as string) as { state: { messages: Entry[] } }).state.messages;
  };
  return {
    async fill(entries) {
      db?.close();
      db = await openRaw(`text-${crypto.randomUUID()}`);
      state = [...entries];
      return timed(save);
    },
    async chain(id) {
      const byId = new Map((await read()).map((one) => [one.id, one]));
      let length = 0;
      for (let at: string | null = id; at !== null; length += 1) at = byId.get(at)?.parentId ?? null;
      return length;
    },
    all: async () => (await read()).length,
    async append(one) {
      state = [...state, one];
      await save();
    },
  };
}

// --- SQLite ---------------------------------------------------------------------------------------------------------

/** In a worker, on the origin's private files; undefined where these are not to be had. */
async function sqlite(): Promise<Peer | undefined> {
  const worker = new Worker('/storeSqlite.js', { type: 'module' });
  const call = (question: Question): Promise<number> =>
    new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<{ value?: number; error?: string }>) =>
        data.error === undefined ? resolve(data.value ?? 0) : reject(new Error(data.error));
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(question, []);
    });
  const isThere = await call({ open: true }).then(Boolean, () => false);
  if (!isThere) return undefined;
  return {
    fill: (entries) => timed(async () => void (await call({ fill: [...entries] }))),
    chain: (id) => call({ chain: id }),
    all: () => call({ all: true }),
    append: async (one) => void (await call({ append: one })),
  };
}

// --- In turns -------------------------------------------------------------------------------------------------------

/** Milliseconds, by task and store. */
export type Times = Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;

const times: Record<string, Record<string, number[]>> = {};

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function note(task: string, name: string, ms: number): void {
  ((times[task] ??= {})[name] ??= []).push(ms);
}

async function timedOf(task: string, name: string, work: () => Promise<void>): Promise<void> {
  note(task, name, await timed(work));
}

const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Lets all stores do all tasks; to be called once in a page. */
export async function compared(rounds: number): Promise<Times> {
  const found: (readonly [string, Peer | undefined])[] = [
    ['contextree', ours()],
    ['Dexie, parent by parent', await dexie()],
    ['a request for each parent', single()],
    ['one JSON text', oneText()],
    ['sqlite-wasm on OPFS', await sqlite()],
  ];
  const peers = found.filter((one): one is [string, Peer] => one[1] !== undefined);
  for (let round = 0; round < rounds; round += 1)
    for (const [name, peer] of peers) {
      await rest(2000);
      note('import', peer.by?.import ?? name, await peer.fill(line(LONG)));
    }
  for (let round = 0; round < rounds; round += 1)
    for (const [name, peer] of peers) {
      await rest(150);
      const task = 'whole chat of 10,000';
      await timedOf(task, peer.by?.[task] ?? name, async () => expectLength(await peer.all?.(), LONG));
    }
  for (let i = 0; i < 25 * rounds; i += 1)
    for (const [name, peer] of peers) {
      // Rewriting a text of ten megabytes is felt by whoever comes next.
      if (name === 'one JSON text' && i % 25 > 0) continue;
      if (name === 'one JSON text') await rest(300);
      await timedOf('a turn more', name, async () =>
        peer.append?.(entry(`n${i}`, i === 0 ? 'm9999' : `n${i - 1}`, i)),
      );
      if (name === 'one JSON text') await rest(1500);
    }
  // Side by side, so none of them tells how long an import takes.
  await Promise.all(peers.map(async ([, peer]) => peer.fill(bush())));
  for (let round = 0; round < rounds * 3; round += 1)
    for (const [name, peer] of peers) {
      await rest(150);
      await timedOf('chain of 200 in a bush', name, async () => expectLength(await peer.chain?.(TIP), CHAIN));
      if (name === 'Dexie, parent by parent')
        await timedOf('chain of 200 in a bush', 'Dexie, where(chat)', async () =>
          expectLength(await peer.all?.(), LONG),
        );
    }
  return times;
}

function expectLength(actual: number | undefined, length: number): void {
  if (actual !== length) throw new Error(`${actual} messages were read, not ${length}`);
}

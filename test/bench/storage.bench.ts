import type { UIMessage } from 'ai';
import { ContextEngine, IndexedDBContextStore, type StoreOp } from 'contextree/core';
import { expect, test, vi } from 'vitest';

/**
 * What the store's layout buys, on a real IndexedDB: reads of a long chat against one `getAll` of the same messages as
 * single objects, and appends against one put of the same message. What is compared is measured in turns, so that a busy
 * machine slows both. `npm run bench` runs it and fails where a promise is broken; RESULTS.md keeps the last figures.
 */
const LONG = 10_000;
const me = { userId: 'u', epoch: 0, mainBranchId: 'main' };

/** About 1 kB of words that do not repeat more than words do. */
function message(id: string, i: number): UIMessage {
  let seed = i + 1;
  const next = (): number => (seed = (seed * 48_271) % 2_147_483_647);
  const word = (): string => (next() % 46_656).toString(36).padStart(3, 'e') + 'naeo'.charAt(next() % 4);
  const text = Array.from({ length: 190 }, word).join(' ');
  return { id, role: i % 2 === 0 ? 'user' : 'assistant', parts: [{ type: 'text', text }] };
}

function inserts(from: number, until: number): StoreOp[] {
  return Array.from({ length: until - from }, (_, k) => {
    const i = from + k;
    const parentId = i === 0 ? null : `m${i - 1}`;
    return { op: 'insert', id: `m${i}`, parentId, data: message(`m${i}`, i), status: 'complete' };
  });
}

function head(from: number, until: number): StoreOp {
  const expected = from === 0 ? null : `m${from - 1}`;
  return { op: 'head', branchId: 'main', expected, messageId: `m${until - 1}`, forkId: `f${until}` };
}

async function timed<T>(run: () => Promise<T>): Promise<[number, T]> {
  const start = performance.now();
  const result = await run();
  return [performance.now() - start, result];
}

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[times.length >> 1] as number;

/** The same messages as objects, one record each: what a store without a layout keeps. */
async function rawDatabase(messages: readonly UIMessage[]): Promise<IDBDatabase> {
  const request = indexedDB.open(`raw-${crypto.randomUUID()}`, 1);
  request.onupgradeneeded = () => request.result.createObjectStore('messages');
  const db = await new Promise<IDBDatabase>((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const tx = db.transaction('messages', 'readwrite');
  messages.forEach((each, i) => tx.objectStore('messages').put(each, ['c', i]));
  await new Promise((resolve) => {
    tx.oncomplete = resolve;
  });
  return db;
}

const getAll = (db: IDBDatabase): Promise<unknown> =>
  new Promise((resolve) => {
    const request = db.transaction('messages').objectStore('messages').getAll();
    request.onsuccess = () => resolve(request.result);
  });

/** A record as large as a branch, a chat, or the topology of a message. */
const RECORD = {
  id: 'main',
  chatId: 'c',
  name: 'main',
  headMessageId: 'm1000',
  messageCount: 1,
  createdAt: 1.7e12,
  updatedAt: 1.7e12,
  deviceId: '-'.repeat(36),
  preview: '-'.repeat(53),
};

type Run = () => Promise<unknown>;

/** A run that says itself how long it took, ms. */
type TimedRun = () => Promise<number>;

const whole =
  (run: Run): TimedRun =>
  async () =>
    (await timed(run))[0];

/** A read on a store that was opened anew; opening is not counted. */
function onFresh(name: string, read: (store: IndexedDBContextStore) => Promise<unknown>): TimedRun {
  return async () => {
    const store = new IndexedDBContextStore(name);
    try {
      await store.get('nothing');
      return (await timed(() => read(store)))[0];
    } finally {
      await store.close();
    }
  };
}

/** A chat as a page opens it: a store that was opened by nobody, and an engine on it, until it is ready. */
async function opened(name: string): Promise<number> {
  const store = new IndexedDBContextStore(name);
  const engine = new ContextEngine({ store, chatId: 'c', userId: 'u' });
  const [ms] = await timed(() => engine.ready());
  expect(engine.state.getState().messages.length).toBe(200);
  engine.dispose();
  await store.close();
  return ms;
}

/** Lets the browser throw away what a long run left, so that the next one does not pay for it. */
const rest = (ms = 150): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The times of some runs that take turns, ms; between two of them `pause`. */
async function inTurns<Name extends string>(
  runs: Readonly<Record<Name, TimedRun>>,
  rounds: number,
  pause: () => Promise<void> = async () => undefined,
): Promise<Readonly<Record<Name, readonly number[]>>> {
  const times = Object.fromEntries(Object.keys(runs).map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round += 1)
    for (const [name, run] of Object.entries<TimedRun>(runs)) {
      await pause();
      times[name]?.push(await run());
    }
  return times as Record<Name, number[]>;
}

async function givenChat(length: number): Promise<{ name: string; store: IndexedDBContextStore }> {
  const name = `bench-${crypto.randomUUID()}`;
  const store = new IndexedDBContextStore(name);
  await store.append('c', [], me);
  await store.append('c', [...inserts(0, length), head(0, length)], me);
  return { name, store };
}

/** Every message by its parent, one request after the other: what a store does that knows only parents. */
async function walk(db: IDBDatabase, length: number): Promise<void> {
  const messages = db.transaction('messages').objectStore('messages');
  for (let i = length - 1; i >= 0; i -= 1)
    await new Promise((resolve) => {
      messages.get(['c', i]).onsuccess = resolve;
    });
}

const percentile = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] as number;

test('reads of a chat of 10,000 messages', { timeout: 300_000 }, async () => {
  const { name, store } = await givenChat(LONG);
  const raw = await rawDatabase(Array.from({ length: LONG }, (_, i) => message(`m${i}`, i)));
  const last = `m${LONG - 1}`;
  const middle = Array.from({ length: 200 }, (_, i) => `m${5000 + i}`);
  expect((await store.getMessageChain('c', last)).length).toBe(LONG);
  const times = await inTurns(
    {
      getAll: whole(() => getAll(raw)),
      chain: onFresh(name, (each) => each.getMessageChain('c', last)),
      last50: onFresh(name, (each) => each.getMessageChain('c', last, { limit: 50 })),
      last200: onFresh(name, (each) => each.getMessageChain('c', last, { limit: 200 })),
      open: () => opened(name),
      middle: onFresh(name, (each) => each.getNodes('c', middle)),
      graph: onFresh(name, (each) => each.load('c')),
    },
    9,
    rest,
  );
  const [all, chain] = [median(times.getAll), median(times.chain)];
  report('getAll of 10,000 single objects', all, all);
  const walked = await inTurns({ walk: whole(() => walk(raw, LONG)) }, 3);
  report('one request for each parent', median(walked.walk), all);
  report('200 in the middle by id', median(times.middle), all);
  report('the last 200 of the chain', median(times.last200), all);
  report('a new store and a new engine, until it shows the last 200', median(times.open), all);
  hold('the whole chain, against getAll', chain, all, 0.6);
  hold('the last 50 of the chain, against getAll', median(times.last50), all, 0.05);
  hold(
    'the graph without bodies, against a full load: graph and chain',
    median(times.graph),
    chain + median(times.graph),
    0.15,
  );
  report('the graph without bodies, against getAll', median(times.graph), all);
  raw.close();
  await store.close();
  // All figures have been told by now.
  expect(broken.splice(0)).toEqual([]);
});

test('an import of 10,000 messages', { timeout: 300_000 }, async () => {
  const messages = Array.from({ length: LONG }, (_, i) => message(`m${i}`, i));
  const ops = [...inserts(0, LONG), head(0, LONG)];
  const stores: IndexedDBContextStore[] = [];
  const times = await inTurns(
    {
      single: whole(async () => (await rawDatabase(messages)).close()),
      ours: async () => {
        const store = new IndexedDBContextStore(`bench-${crypto.randomUUID()}`, { patience: 60_000 });
        stores.push(store);
        await store.append('c', [], me);
        return (await timed(() => store.append('c', ops, me)))[0];
      },
    },
    5,
    () => rest(1000),
  );
  report(
    'an import of 10,000, against a put for each in one transaction',
    median(times.ours),
    median(times.single),
  );
  for (const store of stores) {
    expect((await store.getChat('c'))?.messageCount).toBe(LONG);
    await store.close();
  }
});

test('switching where 9,900 messages are shared', { timeout: 300_000 }, async () => {
  const { name, store } = await givenChat(LONG);
  const names = Array.from({ length: 7 }, (_, i) => `other${i}`);
  for (const branch of names) {
    const ops = Array.from({ length: 100 }, (_, i): StoreOp => {
      const id = `${branch}-${i}`;
      const parentId = i === 0 ? `m${LONG - 101}` : `${branch}-${i - 1}`;
      return { op: 'insert', id, parentId, data: message(id, i), status: 'complete' };
    });
    const make: StoreOp = { op: 'branch', id: branch, name: branch, messageId: `${branch}-99` };
    await store.append('c', [...ops, make], me);
  }
  const reader = async (): Promise<ContextEngine> => {
    const engine = new ContextEngine({ store, chatId: 'c', userId: 'u' });
    await engine.resolve();
    return engine;
  };
  // What a full load reads is what a switch shows. What a full load does not do either is told apart: the mark that is written
  // behind what is shown, and what is sent then.
  const [switches, marks, prompts]: [number[], number[], number[]] = [[], [], []];
  const [chains, loads]: [number[], number[]] = [[], []];
  const switched = async (
    engine: ContextEngine,
    branch: string,
  ): Promise<[shown: number, marked: number]> => {
    const start = performance.now();
    let shown = Number.NaN;
    const stop = engine.state.subscribe((now, before) => {
      if (now.branch === branch && before.branch !== branch) shown = performance.now() - start;
    });
    await engine.switchBranch(branch);
    const marked = performance.now() - start;
    stop();
    const { messages } = engine.state.getState();
    if (messages.at(-1)?.id !== `${branch}-99`) throw new Error('Another branch is shown.');
    return [shown, marked];
  };
  const unread: number[] = [];
  // Each branch is new to an engine once, and no more of them are read ahead. So three engines, one after the other: the
  // median of seven switches told 0.047x to 0.071x of the same code. One at a time, as a page has one: a second one on the
  // same chat hears of each switch, and what it reads then was timed with it.
  for (let round = 0; round < 3; round += 1) {
    const engine = await reader();
    for (const branch of names) {
      await rest();
      const [shown, marked] = await switched(engine, branch);
      switches.push(shown);
      marks.push(marked);
      prompts.push(marked + (await timed(() => engine.resolve()))[0]);
      await rest();
      chains.push((await timed(() => store.getMessageChain('c', `${branch}-99`)))[0]);
      await rest();
      loads.push(
        await onFresh(name, async (each) => {
          await each.load('c');
          await each.getMessageChain('c', `${branch}-99`);
        })(),
      );
    }
    engine.dispose();
  }
  // An engine that never finds the time to read ahead what a branch would show.
  vi.stubGlobal('requestIdleCallback', undefined);
  const busy = await reader();
  for (const branch of names) {
    await rest();
    unread.push((await switched(busy, branch))[0]);
    await busy.resolve();
  }
  vi.unstubAllGlobals();
  busy.dispose();
  hold(
    'a switch to a branch with 100 of its own, against a full load: graph and chain',
    median(switches),
    median(loads),
    0.05,
  );
  report('the same, until its mark is written', median(marks), median(loads));
  report('the same, and resolve()', median(prompts), median(loads));
  report('a switch, against its chain alone, read for the second time', median(switches), median(chains));
  report('a switch before anything was read ahead, against a full load', median(unread), median(loads));
  // All figures have been told by now.
  expect(broken.splice(0)).toEqual([]);
});

test('strict appends', { timeout: 300_000 }, async () => {
  const raw = await rawDatabase([]);
  let at = 0;
  const put =
    (key: string, value: () => unknown): Run =>
    () =>
      new Promise((resolve) => {
        const tx = raw.transaction('messages', 'readwrite', { durability: 'strict' });
        tx.objectStore('messages').put(value(), [key, (at += 1)]);
        tx.commit();
        tx.oncomplete = resolve;
      });
  // What an append asks of the database, without anything around it: three answers, then five records of its sizes.
  const five: Run = () =>
    new Promise((resolve) => {
      const tx = raw.transaction('messages', 'readwrite', { durability: 'strict' });
      const messages = tx.objectStore('messages');
      for (const key of ['a', 'b']) messages.get(key);
      messages.get('c').onsuccess = () => {
        const text = JSON.stringify(message(`m${at}`, at));
        messages.put(text, ['body', (at += 1)]);
        for (let i = 0; i < 4; i += 1) messages.put({ ...RECORD, seq: at }, ['record', i]);
        tx.commit();
      };
      tx.oncomplete = resolve;
    });
  const appends = async (length: number): Promise<Run> => {
    const { store } = await givenChat(length);
    let next = length;
    return () => store.append('c', [...inserts(next, next + 1), head(next, (next += 1))], me);
  };
  const messages = Array.from({ length: LONG }, (_, i) => message(`m${i}`, i));
  const blob =
    (durability: IDBTransactionDurability): Run =>
    () =>
      new Promise((resolve) => {
        const tx = raw.transaction('messages', 'readwrite', { durability });
        tx.objectStore('messages').put(JSON.stringify(messages), 'blob');
        tx.commit();
        tx.oncomplete = resolve;
      });
  const runs = {
    put: whole(put('c', () => message(`m${at}`, at))),
    five: whole(five),
    short: whole(await appends(100)),
    long: whole(await appends(LONG)),
  };
  await inTurns(runs, 20);
  const times = await inTurns(runs, 400);
  // Turns are written one behind the other, as they are in a chat, and before there is any such text: one of ten megabytes
  // keeps the database busy for seconds, with whoever comes next, and no app keeps its chats in both ways. What a turn
  // takes behind one is told apart.
  await rest(1000);
  const turns: number[] = [];
  for (let i = 0; i < 100; i += 1) turns.push(await runs.long());
  const after = async (each: TimedRun, ms: number): Promise<number> => {
    await rest(ms);
    return each();
  };
  const blobs: Record<'strict' | 'relaxed' | 'next', number[]> = { strict: [], relaxed: [], next: [] };
  for (let round = 0; round < 5; round += 1) {
    blobs.strict.push(await after(whole(blob('strict')), 2000));
    blobs.relaxed.push(await after(whole(blob('relaxed')), 2000));
    blobs.next.push(await after(runs.long, 1000));
  }
  const p95 = (each: readonly number[]): number => percentile(each, 0.95);
  report('p95 of five strict puts behind three reads', p95(times.five), p95(times.put));
  report(
    'p50 of an append to 10,000 messages, against one strict put',
    median(times.long),
    median(times.put),
  );
  hold('p95 of an append to 100 messages, against one strict put', p95(times.short), p95(times.put), 3);
  hold('p95 of an append to 10,000 messages, against one strict put', p95(times.long), p95(times.put), 3);
  hold('an append at 10,000 messages, against at 100', median(times.long), median(times.short), 1.5);
  hold(
    'an append, against the chat of 10,000 as one JSON text, strict, too',
    median(turns),
    median(blobs.strict),
    1 / 50,
  );
  report('the same, the text relaxed', median(turns), median(blobs.relaxed));
  report('an append a second behind such a text, against it', median(blobs.next), median(blobs.relaxed));
  raw.close();
  // All figures have been told by now.
  expect(broken.splice(0)).toEqual([]);
});

const broken: string[] = [];

function report(what: string, ms: number, base: number, promise = ''): void {
  const figures = `${ms.toFixed(2)} ms / ${base.toFixed(2)} ms`;
  console.log(`| ${what} | ${(ms / base).toFixed(3)}x | ${promise} | ${figures} |`);
}

/** Reports a figure, and notes where it is above its promise. */
function hold(what: string, ms: number, base: number, most: number): void {
  const isKept = ms / base <= most;
  if (!isKept) broken.push(what);
  report(what, ms, base, `at most ${most}x${isKept ? '' : ': not kept'}`);
}

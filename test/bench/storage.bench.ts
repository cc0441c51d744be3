import type { UIMessage } from 'ai';
import { ContextEngine } from 'contextree/core';
import { expect, test } from 'vitest';
import type { Mark } from '../../src/graph/graph.ts';
import { createChat } from '../../src/graph/join.ts';
import { markId } from '../../src/graph/marks.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import type { ChatRecords } from '../../src/store/store.ts';
import { lineOf, writeLine, writer } from './line.ts';

/**
 * What the store's layout buys, on a real IndexedDB: reads of a long chat against one `getAll` of the same messages as
 * single objects, and turns against one put of the same message. What is compared is measured in turns, so that a busy
 * machine slows both. `npm run bench` runs it and fails where a promise is broken.
 */
const LONG = 10_000;

/** About 1 kB of words that do not repeat more than words do. */
function message(id: string, i: number): UIMessage {
  let seed = i + 1;
  const next = (): number => (seed = (seed * 48_271) % 2_147_483_647);
  const word = (): string => (next() % 46_656).toString(36).padStart(3, 'e') + 'naeo'.charAt(next() % 4);
  const text = Array.from({ length: 190 }, word).join(' ');
  return { id, role: i % 2 === 0 ? 'user' : 'assistant', parts: [{ type: 'text', text }] };
}

/** As ids are, so that keys take their room. */
const ids: string[] = [];
function idOf(i: number): string {
  return (ids[i] ??= crypto.randomUUID());
}

const messagesFrom = (from: number, to: number): UIMessage[] =>
  Array.from({ length: to - from }, (_, i) => message(idOf(from + i), from + i));

async function givenChat(
  length: number,
): Promise<{ name: string; store: IndexedDBContextStore; last: ChatRecords }> {
  const name = `bench-${crypto.randomUUID()}`;
  const store = new IndexedDBContextStore(name, { patience: 60_000 });
  const last = (await writeLine(store, messagesFrom(0, length))) as ChatRecords;
  return { name, store, last };
}

async function timed<T>(run: () => Promise<T>): Promise<[number, T]> {
  const start = performance.now();
  const result = await run();
  return [performance.now() - start, result];
}

const percentile = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] as number;
const median = (times: readonly number[]): number => percentile(times, 0.5);

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

type TimedRun = () => Promise<number>;

const whole =
  (run: () => Promise<unknown>): TimedRun =>
  async () =>
    (await timed(run))[0];

/** Reads on a store that was opened anew; opening is not counted. */
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

/** A chat as a page opens it, until the words of its last 200 are there; `join` as the engine does it. */
function opened(name: string): TimedRun {
  return async () => {
    const [ms, store] = await timed(async () => {
      const fresh = new IndexedDBContextStore(name);
      const records = await fresh.load('c');
      const chat = createChat(records);
      const last = [...chat.messages.values()].slice(-200).map(({ record }) => record);
      const bodies = await fresh.bodies(
        'c',
        last.map(({ key }) => key),
        last,
      );
      if (bodies.size !== 200) throw new Error(`${bodies.size} bodies`);
      return fresh;
    });
    await store.close();
    return ms;
  };
}

/** How long it takes until what was written a thousand messages at a time is sealed as a chat that grew by and by is, ms. */
const SEALED = 5000;

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

test('reads of a chat of 10,000 messages', { timeout: 300_000 }, async () => {
  const { name, store, last } = await givenChat(LONG);
  await rest(SEALED);
  expect(last.messages.length).toBe(1000);
  const records = (await store.load('c')).messages;
  const raw = await rawDatabase(Array.from({ length: LONG }, (_, i) => message(`m${i}`, i)));
  const all = records.map(({ key }) => key);
  expect((await store.bodies('c', all, records)).size).toBe(LONG);
  const middle = all.slice(5000, 5200);
  const times = await inTurns(
    {
      getAll: whole(() => getAll(raw)),
      chain: onFresh(name, (each) => each.bodies('c', all, records)),
      last50: onFresh(name, (each) => each.bodies('c', all.slice(-50), records.slice(-50))),
      last200: onFresh(name, (each) => each.bodies('c', all.slice(-200), records.slice(-200))),
      open: opened(name),
      middle: onFresh(name, (each) => each.bodies('c', middle)),
      one: onFresh(name, (each) => each.bodies('c', middle.slice(0, 1))),
      graph: onFresh(name, (each) => each.load('c')),
    },
    9,
    rest,
  );
  const base = median(times.getAll);
  report('getAll of 10,000 single objects', base, base);
  hold('all bodies, against getAll', median(times.chain), base, 0.6);
  hold('the last 50, against getAll', median(times.last50), base, 0.05);
  report('the last 200', median(times.last200), base);
  report('200 in the middle by key', median(times.middle), base);
  report('one in the middle by key', median(times.one), base);
  report('the graph without bodies', median(times.graph), base);
  hold('a new store, until the last 200 are there', median(times.open), base, 0.25);
  raw.close();
  await store.close();
  expect(broken.splice(0)).toEqual([]);
});

test('switching where 9,900 messages are shared', { timeout: 300_000 }, async () => {
  const { name, store } = await givenChat(LONG);
  const names = Array.from({ length: 7 }, (_, i) => `other${i}`);
  for (const branch of names) {
    const own = Array.from({ length: 100 }, (_, i) => message(`${branch}-${i}`, i));
    const { messages, ends } = lineOf(own, idOf(LONG - 101), { record: branch });
    const id = markId.name(branch, ends[0]?.keys[0] ?? null);
    const name: Mark = { id, rev: 1, by: 'author', chat: 'chat:1', value: { name: branch } };
    await store.commit('c', { messages, ends, marks: [name] }, writer());
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
  // Each branch is new to an engine once. So three engines, one after the other: the
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
  hold(
    'a switch to a branch with 100 of its own, against a full load: graph and chain',
    median(switches),
    median(loads),
    0.05,
  );
  report('the same, until its mark is written', median(marks), median(loads));
  report('the same, and resolve()', median(prompts), median(loads));
  report('a switch, against its chain alone, read for the second time', median(switches), median(chains));
  // All figures have been told by now.
  expect(broken.splice(0)).toEqual([]);
});

test('100,000 messages', { timeout: 600_000 }, async () => {
  const [short, long] = [await givenChat(LONG), await givenChat(10 * LONG)];
  await rest(4 * SEALED);
  const times = await inTurns({ short: opened(short.name), long: opened(long.name) }, 7, rest);
  hold('opening 100,000, against 10,000', median(times.long), median(times.short), 7);
  await short.store.close();
  await long.store.close();
  expect(broken.splice(0)).toEqual([]);
});

test('an import of 10,000 messages', { timeout: 300_000 }, async () => {
  const messages = Array.from({ length: LONG }, (_, i) => message(`m${i}`, i));
  const times = await inTurns(
    {
      single: whole(async () => (await rawDatabase(messages)).close()),
      ours: whole(async () => (await givenChat(LONG)).store.close()),
    },
    5,
    () => rest(1000),
  );
  report('an import of 10,000, against a put for each', median(times.ours), median(times.single));
  expect(times.ours).toHaveLength(5);
});

test('strict turns', { timeout: 300_000 }, async () => {
  const raw = await rawDatabase([]);
  let at = 0;
  const put = (): Promise<unknown> =>
    new Promise((resolve) => {
      const tx = raw.transaction('messages', 'readwrite', { durability: 'strict' });
      tx.objectStore('messages').put(message(`m${at}`, at), ['c', (at += 1)]);
      tx.commit();
      tx.oncomplete = resolve;
    });
  const appends = async (length: number, many: number): Promise<() => Promise<unknown>> => {
    const given = await givenChat(length);
    let { last } = given;
    let next = length;
    return async () => {
      const turn = lineOf(messagesFrom(next, next + many), idOf(next - 1));
      last = await given.store.commit('c', turn, writer(last));
      next += many;
    };
  };
  const runs = {
    put: whole(put),
    short: whole(await appends(100, 1)),
    long: whole(await appends(LONG, 1)),
    turn: whole(await appends(LONG, 2)),
  };
  await inTurns(runs, 20);
  const times = await inTurns(runs, 400);
  const p95 = (each: readonly number[]): number => percentile(each, 0.95);
  report('p50 of an append to 10,000, against one strict put', median(times.long), median(times.put));
  report('p50 of a turn of two messages', median(times.turn), median(times.put));
  hold('p95 of an append to 100, against one strict put', p95(times.short), p95(times.put), 3);
  hold('p95 of an append to 10,000, against one strict put', p95(times.long), p95(times.put), 3);
  hold('an append at 10,000, against at 100', median(times.long), median(times.short), 1.5);
  raw.close();
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

import { IDBFactory } from 'fake-indexeddb';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isContextError } from '../../src/errors.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import { type DatabaseDump, dumpDatabase, loadDatabase } from './dump.ts';
import { engineOn } from './engine.ts';
import { given, givenChat, line, me, message, insert, head } from './graph.ts';
import { sealAll } from './sealing.ts';

/**
 * Damaged records: one record of a chat is deleted, cut off, swapped with another, given a wrong type or a wrong
 * character, or copied to another place. Whatever that does, every call answers or fails in our words, a repair brings
 * every message into reach whose words are still on the disk, those that are gone are named, the chat can be written on,
 * and the other chats are as they were.
 */
export function damageSuite(options: fc.Parameters<[Mutant]>): void {
  describe('a chat of which one record is damaged', () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): unknown => unhandled.push(reason);
    beforeAll(() => void process.on('unhandledRejection', note));
    afterAll(() => void process.off('unhandledRejection', note));

    it('loses no more than that record', { timeout: 3_600_000 }, async () => {
      const whole = await givenDatabase();
      let named = 0;
      await fc.assert(
        fc.asyncProperty(mutants, async (mutant) => {
          named += await tell(whole, mutant);
          expect(unhandled).toEqual([]);
        }),
        options,
      );
      // What never does any harm proves nothing.
      expect(named).toBeGreaterThan((options.numRuns ?? 0) / 3);
    });
  });
}

/** One record, and what becomes of it. */
export interface Mutant {
  readonly kind: (typeof KINDS)[number];
  readonly pick: readonly [number, number, number, number];
}

const KINDS = ['delete', 'cut', 'swap', 'wrong type', 'wrong character', 'copy'] as const;

const mutants = fc.record<Mutant>({
  kind: fc.constantFrom(...KINDS),
  pick: fc.tuple(fc.nat(9999), fc.nat(9999), fc.nat(9999), fc.nat(9999)),
});

/** A chat with forks, a checkpoint, a growing answer and a file, sealed but for its end, and another chat. */
async function givenDatabase(): Promise<DatabaseDump> {
  globalThis.indexedDB = new IDBFactory();
  const store = new IndexedDBContextStore('damaged');
  await given(store, line(18), 'm0 > m1 > m2 > v3 > v4', 'm0 > m1 > m2 > m3 > m4 > w5');
  await store.append('c', [{ op: 'replace', id: 'm7', data: message('m7', 'better') }], me);
  await store.append('c', [{ op: 'checkpoint', id: 'k', name: 'here', messageId: 'm9' }], me);
  const hash = await store.putBlob(new Uint8Array([1, 2, 3]));
  const data = {
    ...message('file'),
    parts: [{ type: 'file', mediaType: 'image/png', url: `contextree-blob:${hash}` }],
  } as const;
  await store.append(
    'c',
    [
      {
        op: 'insert',
        id: 'file',
        parentId: 'm17',
        status: 'complete',
        data: { ...data, parts: [...data.parts] },
      },
    ],
    me,
  );
  await store.append('c', [insert('last', 'file'), head('m17', 'last')], me);
  await store.append('c', [insert('grows', 'last', 'so far', 'streaming'), head('last', 'grows')], me);
  await store.saveDraft('c', 'grows', message('grows', 'so far and'));
  await store.saveDraft('c', 'grows', message('grows', 'so far and further'));
  await givenChat(store, 'other', line(10));
  await sealAll('damaged');
  await store.close();
  return dumpDatabase('damaged');
}

// --- Mutants --------------------------------------------------------------------------------------------------------

type Row = { readonly key: IDBValidKey; readonly value: unknown };

/** The database with one record changed. */
function mutated({ version, stores }: DatabaseDump, { kind, pick: [a, b, c, d] }: Mutant): DatabaseDump {
  const at = stores.flatMap(({ name, rows }) =>
    rows.filter((row) => isOfChat(name, row)).map((row) => ({ name, row })),
  );
  const { name, row } = at[a % at.length] ?? { name: '', row: { key: '', value: undefined } };
  const change = (rows: readonly Row[], keyPath: string | string[] | null): readonly Row[] => {
    const others = rows.filter((one) => one !== row);
    const own = others.filter((one) => isOfChat(name, one));
    const other = own[b % Math.max(own.length, 1)];
    if (kind === 'delete') return others;
    if (kind === 'copy')
      return [
        ...others,
        row,
        { key: beside(row.key, c), value: withKey(row.value, keyPath, beside(row.key, c)) },
      ];
    if (kind === 'swap' && other) {
      return [
        ...others.filter((one) => one !== other),
        { key: row.key, value: withKey(other.value, keyPath, row.key) },
        { key: other.key, value: withKey(row.value, keyPath, other.key) },
      ];
    }
    return [...others, { key: row.key, value: garbled(row.value, keyPath, kind, [b, c, d]) }];
  };
  return {
    version,
    stores: stores.map((one) =>
      one.name === name ? { ...one, rows: unique(change(one.rows, one.keyPath)) } : one,
    ),
  };
}

function isOfChat(table: string, { key, value }: Row): boolean {
  if (table === 'meta' || table === 'blobs') return true;
  if (table === 'values' || table === 'leases' || table === 'fresh') return false;
  return JSON.stringify([key, (value as { id?: unknown } | undefined)?.id]).includes('"c"');
}

/** Keys are unique in a database: the later row counts. */
function unique(rows: readonly Row[]): readonly Row[] {
  return [...new Map(rows.map((row) => [JSON.stringify(row.key), row])).values()];
}

function beside(key: IDBValidKey, by: number): IDBValidKey {
  if (!Array.isArray(key)) return `${JSON.stringify(key)}${by}`;
  const last: unknown = key.at(-1);
  return [...key.slice(0, -1), typeof last === 'number' ? (last + 1 + by) % 30 : `${String(last)}${by % 3}`];
}

/** A value with the key that its table reads from it. */
function withKey(value: unknown, keyPath: string | string[] | null, key: IDBValidKey): unknown {
  if (keyPath === null) return value;
  const fields =
    typeof keyPath === 'string'
      ? [[keyPath, key]]
      : keyPath.map((field, i) => [field, (key as unknown[])[i]]);
  return { ...(value as object), ...Object.fromEntries(fields) };
}

function garbled(
  value: unknown,
  keyPath: string | string[] | null,
  kind: Mutant['kind'],
  [a, b, c]: readonly number[],
): unknown {
  if (typeof value === 'string') return garbledText(value, kind, b ?? 0, c ?? 0);
  if (typeof value !== 'object' || value === null) return [null, 'odd', -1][(b ?? 0) % 3];
  const fields = Object.keys(value).filter((field) => !keyPath?.includes(field));
  const field = fields[(a ?? 0) % Math.max(fields.length, 1)];
  if (field === undefined) return value;
  const before: unknown = (value as Record<string, unknown>)[field];
  const after =
    typeof before === 'string' ? garbledText(before, kind, b ?? 0, c ?? 0) : ODD[(b ?? 0) % ODD.length];
  const { [field]: _gone, ...rest } = value as Record<string, unknown>;
  return kind === 'cut' && typeof before !== 'string' ? rest : { ...rest, [field]: after };
}

const ODD = [null, 'odd', -1, Number.NaN, 1e300, [], {}, true, ['x', 1], { id: 1 }, 7] as const;

function garbledText(text: string, kind: Mutant['kind'], at: number, by: number): unknown {
  const place = at % Math.max(text.length, 1);
  if (kind === 'cut') return text.slice(0, place);
  if (kind === 'wrong type') return ODD[at % ODD.length];
  return text.slice(0, place) + String.fromCharCode(32 + (by % 90)) + text.slice(place + 1);
}

// --- What has to hold -----------------------------------------------------------------------------------------------

/** Plays one mutant; 1 if something was found in it. */
async function tell(whole: DatabaseDump, mutant: Mutant): Promise<number> {
  globalThis.indexedDB = new IDBFactory();
  const damaged = mutated(whole, mutant);
  // Two records of one id are more than a database takes.
  const isPossible = await loadDatabase('damaged', damaged).then(
    () => true,
    () => false,
  );
  if (!isPossible) return 0;
  const store = new IndexedDBContextStore('damaged');
  const engine = engineOn(store, { userId: 'me' });
  try {
    // A name that is another one is as good as any.
    const owner = (await store.getChat('c'))?.userId;
    if (owner !== undefined && !['me', ''].includes(owner)) return 0;
    await ours(() => engine.ready());
    await ours(() => engine.resolve());
    const reads: readonly (() => Promise<unknown>)[] = [
      () => store.load('c'),
      () => store.load('c', 5),
      () => store.getMessages('c'),
      () => store.getMessageChain('c', 'm17', { limit: 5 }),
      () => store.getNodes('c', ['m1', 'm9', 'm17']),
      () => store.listBranches('c'),
      () => store.listCheckpoints('c'),
      () => store.getGraph('c'),
      () => store.listChats(),
      () => store.changesSince(0),
      () => store.searchMessages('c', 'm1 better'),
      () => store.getMessage('c', 'grows'),
    ];
    for (const read of reads) await ours(read);
    const findings = (await ours(() => engine.verify())) ?? [];
    const plan = await ours(() => engine.repair({ preview: true }));
    const repair = await ours(() => engine.repair());
    expect(plan?.messages.toSorted()).toEqual(repair?.messages.toSorted());
    expect((await engine.verify()).filter(({ mends }) => mends)).toEqual([]);
    await ours(() => engine.continue(message('q-next', 'more'), { id: 'a-next' }));
    await expectWords(
      store,
      survivors(whole, damaged),
      [...findings, ...(repair?.findings ?? [])].map(({ id, text }) => `${id} ${text}`),
    );
    expect((await store.getMessages('c')).some(({ id }) => id === 'q-next')).toBe(true);
    await store.close();
    expect(rowsOf(await dumpDatabase('damaged'), 'other')).toEqual(rowsOf(damaged, 'other'));
    return findings.length > 0 ? 1 : 0;
  } catch (error) {
    throw new Error(`With ${differenceOf(whole, damaged)}: ${String(error)}`, { cause: error });
  } finally {
    await store.close();
  }
}

/** The result of a call; undefined where it failed in our words. Anything else it throws is ours to mend. */
async function ours<T>(call: () => Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('It hangs.')), 10_000);
  });
  try {
    return await Promise.race([call(), late]);
  } catch (error) {
    if (!isContextError(error) || error.code === 'invariant') throw error;
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** The messages whose words are on the disk as they were, and those whose are not, by id. */
function survivors(
  whole: DatabaseDump,
  damaged: DatabaseDump,
): { there: Map<string, unknown>; gone: Map<string, unknown> } {
  const [before, after] = [bodiesOf(whole), bodiesOf(damaged)];
  const [there, gone] = [new Map<string, unknown>(), new Map<string, unknown>()];
  for (const [id, text] of before) (after.get(id) === text ? there : gone).set(id, JSON.parse(text));
  return { there, gone };
}

/** The bodies of the chat that can be read in some line of some record. */
function bodiesOf({ stores }: DatabaseDump): Map<string, string> {
  const texts = stores.flatMap(({ name, rows }) => {
    const own = rows.filter(({ key }) => (key as unknown[])[0] === 'c').map(({ value }) => value);
    if (name === 'bodies') return own;
    if (name !== 'packs') return [];
    return own.flatMap((value) =>
      String((value as { text: unknown }).text)
        .split('\n')
        .map((each) => each.replace(/,$/, '')),
    );
  });
  const bodies = new Map<string, string>();
  for (const text of texts) {
    const id = idOf(text);
    if (id !== undefined) bodies.set(id, text as string);
  }
  return bodies;
}

function idOf(text: unknown): string | undefined {
  try {
    const body = JSON.parse(text as string) as { id?: unknown; parts?: unknown } | null;
    return typeof body?.id === 'string' && Array.isArray(body.parts) ? body.id : undefined;
  } catch {
    return undefined;
  }
}

/** Every message that is on the disk can be read and reached, and every other one is named. */
async function expectWords(
  store: IndexedDBContextStore,
  { there, gone }: { there: Map<string, unknown>; gone: Map<string, unknown> },
  named: readonly string[],
): Promise<void> {
  const chains = await Promise.all(
    (await store.listBranches('c')).map(({ headMessageId }) =>
      store.getMessageChain('c', headMessageId ?? ''),
    ),
  );
  const reached = new Map(chains.flat().map((node) => [node.id, node.data]));
  for (const [id, data] of there) {
    if (id === 'grows') expect(reached.has(id)).toBe(true);
    else expect({ id, data: reached.get(id) }).toEqual({ id, data });
  }
  // A growing answer has its words in two places, and what can be guessed may be right.
  const isReadable = (id: string, data: unknown): boolean =>
    id === 'grows' ? reached.has(id) : JSON.stringify(reached.get(id)) === JSON.stringify(data);
  const unnamed = [...gone]
    .filter(([id, data]) => !isReadable(id, data) && !named.some((words) => words.includes(id)))
    .map(([id]) => id);
  expect(unnamed).toEqual([]);
}

/** The record that was changed, for someone who reads of a failure. */
function differenceOf(whole: DatabaseDump, damaged: DatabaseDump): string {
  const known = new Set(
    whole.stores.flatMap(({ name, rows }) => rows.map((row) => JSON.stringify([name, row]))),
  );
  const now = damaged.stores.flatMap(({ name, rows }) => rows.map((row) => JSON.stringify([name, row])));
  const there = new Set(now);
  const gone = [...known].filter((row) => !there.has(row));
  return `${gone.join(' and ')} changed to ${now.filter((row) => !known.has(row)).join(' and ')}`;
}

function rowsOf({ stores }: DatabaseDump, chatId: string): unknown {
  return stores.map(({ name, rows }) => [name, rows.filter(({ key }) => (key as unknown[])[0] === chatId)]);
}

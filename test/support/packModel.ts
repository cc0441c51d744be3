import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { isContextError } from '../../src/errors.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import type { AppendOptions, ContextStore, StoreOp } from '../../src/store/store.ts';
import { tryAll } from './campaign.ts';
import { Faults, WRITE_FAULTS } from './faults.ts';
import { insert, message } from './graph.ts';
import { countRecords, sealAll, sealOne } from './sealing.ts';

/**
 * Packs against memory: whatever is done to two chats, by two tabs, with blocks sealed at any moment between, sealing
 * killed at any request, and connections closed, every read answers as a store does that has never heard of packs.
 *
 * Steps are numbers; each takes what it needs from the chat as it is, so that shrinking keeps them meaningful.
 */
export function packModelSuite(
  freshName: () => string,
  options: fc.Parameters<[PackStory]> & { readonly numRuns: number },
  kept: readonly PackStory[] = [],
): void {
  describe('packed rows', () => {
    const faults = new Faults();
    afterEach(() => void vi.useRealTimers());
    afterAll(() => faults.remove());

    it('read as single ones, whatever happens', { timeout: 900_000 }, async () => {
      let packs = 0;
      const play = async (steps: PackStory): Promise<void> => {
        packs += await playPacks(freshName(), steps, faults);
      };
      await tryAll(packStories, play, options);
      // What never seals proves nothing.
      expect(packs).toBeGreaterThan(options.numRuns);
    });

    it.each(kept)('do so where they did not once: %#', async (...steps) => {
      await expect(playPacks(freshName(), steps, faults)).resolves.toBeTypeOf('number');
    });
  });
}

export type PackStory = readonly Step[];

/** A kind of step, and numbers that choose from what is there. */
interface Step {
  readonly kind: (typeof KINDS)[number];
  readonly chat: 'c' | 'd';
  readonly tab: 0 | 1;
  readonly pick: readonly [number, number, number];
}

const KINDS = [
  'turn',
  'turn',
  'turn',
  'import',
  'import',
  'replace',
  'replace',
  'stream',
  'draft',
  'drop',
  'again',
  'take back',
  'take back',
  'branch',
  'delete branch',
  'restore branch',
  'checkpoint',
  'delete',
  'restore',
  'clear',
  'seal one',
  'seal',
  'seal',
  'kill seal',
  'close',
] as const;

export const packStories: fc.Arbitrary<PackStory> = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom(...KINDS),
    chat: fc.constantFrom('c', 'c', 'c', 'd'),
    tab: fc.constantFrom(0, 1),
    pick: fc.tuple(fc.nat(60), fc.nat(60), fc.nat(60)),
  }),
  { minLength: 1, maxLength: 24, size: 'max' },
);

/** Plays a story on both stores; the number of packs at its end. */
export async function playPacks(name: string, steps: PackStory, faults: Faults): Promise<number> {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
  const model = new InMemoryContextStore();
  const tabs = [new IndexedDBContextStore(name), new IndexedDBContextStore(name)] as const;
  try {
    for (const [i, step] of steps.entries()) {
      vi.setSystemTime(1_000_000 + i * 1000);
      await tidy(name, step, tabs, faults);
      const work = workOf(step, i, await model.load(step.chat), (await model.getGraph(step.chat)).nodes);
      const [expected, actual] = [
        await outcome(() => work(model)),
        await outcome(() => work(tabs[step.tab])),
      ];
      same(plain(actual), plain(expected));
      if (i % 4 !== 3 && i < steps.length - 1) continue;
      const ask = (store: ContextStore): Promise<unknown> => everything(store, step);
      same(plain(await ask(tabs[1])), plain(await ask(model)));
    }
    return (await countRecords(name))['packs'] ?? 0;
  } finally {
    faults.cease();
    await Promise.all([model, ...tabs].map((store) => store.close()));
    await answer(indexedDB.deleteDatabase(name));
  }
}

/** As `toEqual`, which costs much more where there is no difference to tell. */
function same(found: unknown, wanted: unknown): void {
  if (!isDeepStrictEqual(found, wanted)) expect(found).toEqual(wanted);
}

/** What happens to the database only, and must not show. */
async function tidy(
  name: string,
  { kind, chat, tab, pick: [a, b] }: Step,
  tabs: readonly ContextStore[],
  faults: Faults,
): Promise<void> {
  if (kind === 'close') await tabs[tab]?.close();
  if (kind === 'seal one') await sealOne(name, chat);
  if (kind === 'seal') await Promise.all([sealAll(name), sealAll(name)]);
  if (kind !== 'kill seal') return;
  faults.order(WRITE_FAULTS[a % WRITE_FAULTS.length] ?? 'throw', 1 + (b % 16));
  await sealOne(name, chat).catch((error: unknown) => {
    if (!faults.struck) throw error;
  });
  faults.cease();
}

type Records = Awaited<ReturnType<ContextStore['load']>>;
type Work = (store: ContextStore) => Promise<unknown>;

/** What a step does to a store, given the chat as it is. */
function workOf(
  { kind, chat, pick: [a, b, c] }: Step,
  at: number,
  { chat: row, nodes, branches, checkpoints }: Records,
  shown: readonly { readonly id: string }[],
): Work {
  const from = <T>(list: readonly T[], place: number): T | undefined =>
    list[place % Math.max(list.length, 1)];
  const options: AppendOptions = {
    userId: 'me',
    epoch: (row?.epoch ?? 0) + (row?.deletedAt === undefined || c % 7 === 0 ? 0 : 1),
    mainBranchId: `main-${chat}`,
    onConflict: (['fork', 'fork', 'rebase', 'error'] as const)[b % 4] ?? 'fork',
  };
  const branch = from(branches, a);
  const branchId = branch?.id ?? options.mainBranchId;
  const node = from(nodes, b) ?? { id: 'nothing', rev: 0 };
  const append =
    (ops: readonly StoreOp[]): Work =>
    (store) =>
      store.append(chat, ops, options);
  const chain = (length: number): StoreOp[] => {
    const isAtHead = c % 4 !== 0;
    const parent = isAtHead ? (branch?.headMessageId ?? null) : (from(shown, b)?.id ?? null);
    const ids = Array.from({ length }, (_, i) => `${i % 2 === 0 ? 'q' : 'a'}${at}-${i}`);
    const expected = c % 5 === 1 ? parent : (branch?.headMessageId ?? null);
    const inserts = ids.map((id, i) => insert(id, ids[i - 1] ?? parent, `word${i} of ${id}`));
    return [
      ...inserts,
      { op: 'head', branchId, expected, messageId: ids.at(-1) ?? null, forkId: `fork-${at}` },
    ];
  };
  switch (kind) {
    case 'turn':
      return append(chain(1 + (a % 3)));
    case 'import':
      return append(chain(4 + (a % 12)));
    case 'replace':
      return append([
        {
          op: 'replace',
          id: node.id,
          ...(a % 3 === 0 ? {} : { data: message(node.id, a % 5 === 0 ? '' : `other words ${at}`) }),
          status: (['complete', 'complete', 'streaming', 'interrupted'] as const)[c % 4] ?? 'complete',
          ...(a % 4 === 0 ? { rev: node.rev } : {}),
        },
      ]);
    case 'stream': {
      const id = c % 3 === 0 ? `again${c % 2}` : `s${at}`;
      const parent = branch?.headMessageId ?? null;
      const move: StoreOp = { op: 'head', branchId, expected: parent, messageId: id, forkId: `fork-${at}` };
      return append([insert(id, parent, '', 'streaming'), move]);
    }
    case 'draft':
      return (store) => store.saveDraft(chat, node.id, message(node.id, `draft ${at}`));
    case 'drop':
      return append([{ op: 'drop', id: (nodes.find((one) => one.parts === 0) ?? node).id }]);
    case 'again': {
      const ops = chain(2 + (a % 9));
      return async (store) => [await append(ops)(store), await append(ops)(store)];
    }
    case 'take back': {
      // A message of long ago loses its words, goes, and perhaps comes again among others.
      const id = branch?.headMessageId ?? 'nothing';
      const parentId = nodes.find((one) => one.id === id)?.parentId ?? null;
      const ids = [id, ...Array.from({ length: 7 }, (_, i) => `r${at}-${i}`)];
      const again = ids.map((one, i) => insert(one, ids[i - 1] ?? parentId));
      const hush: StoreOp = { op: 'replace', id, data: message(id, ''), status: 'streaming' };
      return async (store) => [
        await append([hush])(store),
        await append([{ op: 'drop', id }])(store),
        c % 2 === 0 && (await append(again)(store)),
      ];
    }
    case 'branch':
      return append([{ op: 'branch', id: `b${at}`, base: 'main', messageId: from(shown, c)?.id ?? null }]);
    case 'delete branch':
      return append([{ op: 'delete-branch', id: branchId }]);
    case 'restore branch':
      return append([{ op: 'restore-branch', id: branchId }]);
    case 'checkpoint':
      return append([
        { op: 'checkpoint', id: `k${at}`, name: from(checkpoints, a)?.name ?? `k${at}`, messageId: node.id },
      ]);
    case 'delete':
      return (store) => store.deleteChat(chat, c % 2 === 0 ? { keepFor: 1e9 } : {});
    case 'restore':
      return (store) => store.restoreChat(chat);
    case 'clear':
      return c % 6 === 0 ? (store) => store.clear() : async () => undefined;
    default:
      return async () => undefined;
  }
}

/** What both stores are asked: everything, and parts of it. */
async function everything(store: ContextStore, { chat, pick: [a, b, c] }: Step): Promise<unknown> {
  const records = await store.load(chat);
  const ids = records.nodes.map(({ id }) => id);
  const some = ids.filter((_, i) => (i * (a + 1)) % 7 < 3).toReversed();
  return {
    records,
    other: await store.load(chat === 'c' ? 'd' : 'c'),
    difference: await store.load(chat, Math.max(records.seq - b, 0)),
    chains: await Promise.all(
      records.branches.map(({ headMessageId }, i) =>
        store.getMessageChain(chat, headMessageId ?? '', i % 2 === 0 ? {} : { limit: c }),
      ),
    ),
    all: await store.getNodes(chat, ids),
    some: await store.getNodes(chat, [...some, 'nothing']),
    graph: await store.getGraph(chat),
    found: await store.searchMessages(chat, `word${c % 4}`, { limit: 100 }),
    chats: await store.listChats(),
    page: await store.listChats({ limit: 1, offset: a % 2, ...(b % 2 === 0 ? { userId: 'me' } : {}) }),
    changes: await store.changesSince(0),
    feed: await store.changesSince(a, 1 + (b % 9)),
  };
}

async function outcome(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (error) {
    if (!isContextError(error)) throw error;
    return [error.code, error.message];
  }
}

/** What can be compared: what JSON keeps, without the names that devices give themselves. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (key, one: unknown) => (key === 'deviceId' ? undefined : one)),
  );
}

function answer(request: IDBOpenDBRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request.onsuccess = resolve;
    request.onerror = reject;
  });
}

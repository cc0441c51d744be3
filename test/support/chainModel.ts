import fc from 'fast-check';
import type { NodeInfo } from '../../src/graph/graph.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { IndexedDBContextStore } from '../../src/store/indexeddb/store.ts';
import type { ContextStore, StoreOp } from '../../src/store/store.ts';
import { insert, me, message } from './graph.ts';
import { same } from './same.ts';
import { countRecords, sealAll } from './sealing.ts';

/**
 * Chains against memory: a tab asks for a chain where its messages lay when it last looked. So here two tabs look at the
 * same chains again and again, while one or the other hangs messages elsewhere, cuts some out or begins the chat anew
 * under the same ids. Whatever they remember, they tell what is there.
 */
export type ChainStory = readonly Step[];

/** A kind of step, and numbers that choose from what is there. */
interface Step {
  readonly kind: (typeof KINDS)[number];
  readonly tab: 0 | 1;
  readonly pick: readonly [number, number, number];
}

const KINDS = [
  'import',
  'import',
  'by turns',
  'by turns',
  'hang elsewhere',
  'hang elsewhere',
  'hang elsewhere',
  'hang elsewhere',
  'cut out',
  'replace',
  'begin anew',
  'seal',
  'seal',
] as const;

export const chainStories: fc.Arbitrary<ChainStory> = fc.array(
  fc.record<Step>({
    kind: fc.constantFrom(...KINDS),
    tab: fc.constantFrom(0, 1),
    pick: fc.tuple(fc.nat(60), fc.nat(60), fc.nat(60)),
  }),
  { minLength: 1, maxLength: 16, size: 'max' },
);

/** Plays a story on both stores; the number of packs at its end. */
export async function playChains(name: string, steps: ChainStory): Promise<number> {
  const model = new InMemoryContextStore();
  const tabs = [new IndexedDBContextStore(name), new IndexedDBContextStore(name)] as const;
  try {
    for (const [at, step] of steps.entries()) {
      const work = workOf(step, at, await model.load('c'));
      for (const store of [model, tabs[step.tab]]) await work(store);
      if (step.kind === 'seal') await sealAll(name);
      const ids = chosen(step, (await model.load('c')).nodes);
      for (const tab of tabs) for (const id of ids) await compare(tab, model, id, step.pick[2]);
    }
    return (await countRecords(name))['packs'] ?? 0;
  } finally {
    await Promise.all([model, ...tabs].map((store) => store.close()));
  }
}

/** Some messages, mostly the same ones from step to step. */
function chosen({ pick: [a, b] }: Step, nodes: readonly NodeInfo[]): string[] {
  const places = [a % 4 === 0 ? b : 7, 19, nodes.length - 1, nodes.length - 9];
  return places.flatMap((place) => nodes[place]?.id ?? []);
}

/** The whole chain of a message, and its end. */
async function compare(tab: ContextStore, model: ContextStore, id: string, limit: number): Promise<void> {
  for (const options of [{}, { limit }])
    same(await toldBy(tab, id, options), await toldBy(model, id, options));
}

async function toldBy(store: ContextStore, id: string, options: { limit?: number }): Promise<unknown> {
  const chain = await store.getMessageChain('c', id, options);
  return chain.map((node) => [node.id, node.parentId, node.seq, node.rev, JSON.stringify(node.data)]);
}

type Records = Awaited<ReturnType<ContextStore['load']>>;

/** What a step does to a store, given the chat as it is. */
function workOf(
  { kind, pick: [a, b, c] }: Step,
  at: number,
  { seq, chat, nodes }: Records,
): (store: ContextStore) => Promise<unknown> {
  const epoch = (chat?.epoch ?? 0) + (chat?.deletedAt === undefined ? 0 : 1);
  const append =
    (...ops: readonly StoreOp[]) =>
    (store: ContextStore): Promise<unknown> =>
      store.append('c', ops, { ...me, epoch });
  const mend = (hung: readonly NodeInfo[], dropped: readonly NodeInfo[]): ReturnType<typeof append> =>
    append({ op: 'mend', seq, nodes: hung, chat: undefined, dropped, branches: [], checkpoints: [] });
  const node = nodes[b % Math.max(nodes.length, 1)];
  const earlier = nodes[a % Math.max(b % Math.max(nodes.length, 1), 1)];
  switch (kind) {
    case 'import':
    case 'by turns': {
      const known = new Set(nodes.map(({ id }) => id));
      const ids = Array.from({ length: 200 }, (_, i) => `m${(i * 7 + (a % 3)) % 200}`);
      const fresh = ids.filter((id) => !known.has(id)).slice(0, 10 + b);
      const parent = (c % 4 === 0 ? node : nodes.at(-1))?.id ?? null;
      const back = kind === 'import' ? 1 : 2 + (c % 2);
      return append(...fresh.map((id, i) => insert(id, fresh[i - back] ?? parent, `${id} of step ${at}`)));
    }
    case 'hang elsewhere': {
      const parent = node === earlier ? undefined : earlier;
      const hung = node && { ...node, parentId: parent?.id ?? null, depth: (parent?.depth ?? 0) + 1 };
      return mend(hung ? [hung] : [], []);
    }
    case 'cut out': {
      const cut = node && node !== earlier ? [node] : [];
      const after = nodes.filter(({ parentId }) => parentId !== null && parentId === cut[0]?.id);
      return mend(
        after.map((one) => ({ ...one, parentId: earlier?.id ?? null, depth: (earlier?.depth ?? 0) + 1 })),
        cut,
      );
    }
    case 'replace':
      return node
        ? append({ op: 'replace', id: node.id, data: message(node.id, `other words ${at}`) })
        : append();
    case 'begin anew':
      return (store) => store.deleteChat('c');
    case 'seal':
      return async () => undefined;
  }
}

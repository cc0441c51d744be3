import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type GraphData, visualizeGraph } from '../../src/graph/visualize.ts';

const ROLES: Readonly<Record<string, string>> = { q: 'user', x: 'user' };

/** A message whose key is other than its id, as in every chat. */
function node(id: string, parent: string | null, content = id): GraphData['nodes'][number] {
  const parentKey = parent === null ? null : `key:${parent}`;
  const role = ROLES[id.charAt(0)] ?? 'assistant';
  return { id, key: `key:${id}`, parentId: parent, parentKey, role, content, createdAt: 1, at: 1 };
}

/** A graph from paths; each head becomes a branch, the first is `main` and active. */
function picture(paths: readonly string[], checkpoints: Readonly<Record<string, string>> = {}): GraphData {
  const chains = paths.map((path) => path.split(' > '));
  const nodes = new Map(
    chains.flatMap((ids) => ids.map((id, i) => [id, node(id, ids[i - 1] ?? null)] as const)),
  );
  return {
    chatId: 'c',
    nodes: [...nodes.values()],
    branches: chains.map((ids, i) => {
      const head = ids.at(-1) as string;
      const name = i === 0 ? 'main' : `main-v${i + 1}`;
      return { name, headMessageId: head, headKey: `key:${head}`, isActive: i === 0 };
    }),
    checkpoints: Object.entries(checkpoints).map(([name, id]) => {
      return { name, messageId: id, messageKey: `key:${id}` };
    }),
  };
}

const drawn = (nodes: GraphData['nodes']): string[] =>
  visualizeGraph({ chatId: 'c', nodes, branches: [], checkpoints: [] }).split('\n');

describe('a graph as text', () => {
  it('says that an empty chat is empty', () => {
    expect(visualizeGraph({ chatId: 'x', nodes: [], branches: [], checkpoints: [] })).toBe(
      '[chat: x]\n\n(empty)',
    );
  });

  it('draws forks with bars, heads and checkpoints in their order', () => {
    const data = picture(['q1 > a1 > q2', 'q1 > b1 > q3', 'q1 > a1 > q2'], { here: 'a1', there: 'a1' });
    expect(visualizeGraph(data).split('\n').slice(2, -2)).toEqual([
      'q1 (user): "q1"',
      '├── a1 (assistant): "a1" {here, there}',
      '│   └── q2 (user): "q2" <- [main *, main-v3]',
      '└── b1 (assistant): "b1"',
      '    └── q3 (user): "q3" <- [main-v2]',
    ]);
  });

  it('shows eight characters of an id, and text on one line', () => {
    expect(drawn([node('q123456789', null, 'one\ntwo')])).toContain('q1234567 (user): "one two"');
  });

  it('leaves out what hangs on nothing', () => {
    expect(drawn([node('q1', null), node('a9', 'lost')]).join()).not.toContain('a9');
  });

  it('is what its definition says, for any graph', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 40 }), { maxLength: 40 }), (draws) => {
        const data = grown(draws);
        expect(visualizeGraph(data).split('\n').slice(2, -2)).toEqual(defined(data, null));
      }),
    );
  });

  it.each<[string, (i: number) => number | null]>([
    ['in a row', (i) => i - 1],
    ['under one root', () => 0],
    ['as roots', () => null],
    ['as a comb', (i) => i - 1 - ((i - 1) % 2)],
  ])('draws 20,000 messages %s, short enough for a string', (_, parentOf) => {
    const nodes = Array.from({ length: 20_000 }, (_, i) => numbered(i, i === 0 ? null : parentOf(i)));
    const lines = drawn(nodes);
    expect(lines).toHaveLength(20_004);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(130);
  });

  it('says how many levels it leaves out, where it has to', () => {
    const nodes = Array.from({ length: 6_000 }, (_, i) => numbered(i, i === 0 ? null : i - 1));
    const lines = drawn(nodes);
    expect(lines.slice(18, 21)).toEqual([
      `${' '.repeat(60)}└── 16 (user): "16"`,
      `${' '.repeat(64)}└── 17 (user): "17"`,
      `(+1) ${' '.repeat(64)}└── 18 (user): "18"`,
    ]);
    expect(lines.at(-3)).toBe(`(+5982) ${' '.repeat(64)}└── 5999 (user): "5999"`);
  });
});

function numbered(i: number, parent: number | null): GraphData['nodes'][number] {
  return { ...node(String(i), parent === null ? null : String(parent)), role: 'user' };
}

/** A graph in which each message hangs on one that was drawn among those before it, or is a root. */
function grown(draws: readonly number[]): GraphData {
  const nodes = [0, ...draws].map((draw, i) => numbered(i, draw % (i + 1) === i ? null : draw % (i + 1)));
  return { chatId: 'c', nodes, branches: [], checkpoints: [] };
}

/** The lines below a message by definition: each child, then what is below it, one level further in. */
function defined({ nodes }: Pick<GraphData, 'nodes'>, parentId: string | null, prefix = ''): string[] {
  const children = nodes.filter((node) => node.parentId === parentId);
  return children.flatMap(({ id }, i) => {
    const isLast = i === children.length - 1;
    const [stem, inner] = parentId === null ? ['', ''] : isLast ? ['└── ', '    '] : ['├── ', '│   '];
    return [`${prefix}${stem}${id} (user): "${id}"`, ...defined({ nodes }, id, prefix + inner)];
  });
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Branch, Checkpoint, NodeInfo } from '../../src/graph/graph.ts';
import { infoOf } from '../../src/graph/graph.ts';
import { graphData } from '../../src/graph/graphData.ts';
import { type GraphData, visualizeGraph } from '../../src/graph/visualize.ts';
import { graph, line, message, node } from '../support/graph.ts';

/** A graph from paths; each head becomes a branch, the first is `main` and active. */
function picture(paths: readonly string[], checkpoints: GraphData['checkpoints'] = []): GraphData {
  const { nodes, heads } = graph(...paths);
  return {
    chatId: 'c',
    nodes: nodes.map(({ id, parentId, name, createdAt }) => ({
      id,
      parentId,
      role: name,
      content: id,
      createdAt,
    })),
    branches: heads.map((headMessageId, i) => ({
      name: i === 0 ? 'main' : `main-v${i + 1}`,
      headMessageId,
      isActive: i === 0,
    })),
    checkpoints,
  };
}

describe('a graph as text', () => {
  it('says that an empty chat is empty', () => {
    expect(visualizeGraph({ chatId: 'x', nodes: [], branches: [], checkpoints: [] })).toBe(
      '[chat: x]\n\n(empty)',
    );
  });

  it('draws a line of messages under its root', () => {
    expect(visualizeGraph(picture(['q1 > a1 > q2'])).split('\n')).toEqual([
      '[chat: c]',
      '',
      'q1 (user): "q1"',
      '└── a1 (assistant): "a1"',
      '    └── q2 (user): "q2" <- [main *]',
      '',
      'Legend: * = active branch, {...} = checkpoint',
    ]);
  });

  it('draws forks with bars, heads and checkpoints in their order', () => {
    const data = picture(
      ['q1 > a1 > q2', 'q1 > b1 > q3', 'q1 > a1 > q2'],
      [
        { name: 'here', messageId: 'a1' },
        { name: 'there', messageId: 'a1' },
      ],
    );
    expect(visualizeGraph(data).split('\n').slice(2, -2)).toEqual([
      'q1 (user): "q1"',
      '├── a1 (assistant): "a1" {here, there}',
      '│   └── q2 (user): "q2" <- [main *, main-v3]',
      '└── b1 (assistant): "b1"',
      '    └── q3 (user): "q3" <- [main-v2]',
    ]);
  });

  it('begins each root at the margin', () => {
    expect(
      visualizeGraph(picture(['q1 > a1', 'x1 > y1']))
        .split('\n')
        .slice(2, -2),
    ).toEqual([
      'q1 (user): "q1"',
      '└── a1 (assistant): "a1" <- [main *]',
      'x1 (assistant): "x1"',
      '└── y1 (assistant): "y1" <- [main-v2]',
    ]);
  });

  it('shows eight characters of an id, and text on one line', () => {
    const nodes = [{ id: '0123456789', parentId: null, role: 'user', content: 'one\ntwo', createdAt: 1 }];
    expect(
      visualizeGraph({
        chatId: 'c',
        nodes,
        branches: [{ name: 'main', headMessageId: null, isActive: true }],
        checkpoints: [],
      }),
    ).toContain('\n01234567 (user): "one two"\n');
  });

  it('leaves out what hangs on nothing', () => {
    const nodes = [
      { id: 'q1', parentId: null, role: 'user', content: 'q1', createdAt: 1 },
      { id: 'a9', parentId: 'lost', role: 'assistant', content: 'a9', createdAt: 1 },
    ];
    expect(visualizeGraph({ chatId: 'c', nodes, branches: [], checkpoints: [] })).not.toContain('a9');
  });

  it('draws 5,000 messages in a row, each where it belongs', () => {
    const lines = visualizeGraph(picture([line(5_000)])).split('\n');
    expect(lines).toHaveLength(5_004);
    expect(lines.at(-3)?.indexOf('└')).toBe(4 * 4_998);
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
  ])('draws 100,000 messages %s, short enough for a string', (_, parentOf) => {
    const nodes = Array.from({ length: 100_000 }, (_, i) => numbered(i, i === 0 ? null : parentOf(i)));
    const lines = visualizeGraph({ chatId: 'c', nodes, branches: [], checkpoints: [] }).split('\n');
    expect(lines).toHaveLength(100_004);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(130);
  });

  it('says how many levels it leaves out, where it has to', () => {
    const nodes = Array.from({ length: 6_000 }, (_, i) => numbered(i, i === 0 ? null : i - 1));
    const lines = visualizeGraph({ chatId: 'c', nodes, branches: [], checkpoints: [] }).split('\n');
    expect(lines.slice(18, 21)).toEqual([
      `${' '.repeat(60)}└── 16 (user): "16"`,
      `${' '.repeat(64)}└── 17 (user): "17"`,
      `(+1) ${' '.repeat(64)}└── 18 (user): "18"`,
    ]);
    expect(lines.at(-3)).toBe(`(+5982) ${' '.repeat(64)}└── 5999 (user): "5999"`);
  });
});

function numbered(i: number, parent: number | null): GraphData['nodes'][number] {
  const id = String(i);
  return { id, parentId: parent === null ? null : String(parent), role: 'user', content: id, createdAt: 1 };
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

describe('records as a graph', () => {
  it('are live pointers and visible messages, in the order of seq', () => {
    const { nodes } = graph('q1 > a1');
    const reserved = node('b1', { parentId: 'q1', seq: 7, status: 'streaming', data: message('b1', '') });
    const branch: Branch = {
      id: 'b',
      chatId: 'c',
      name: 'main',
      headMessageId: 'a1',
      messageCount: 2,
      createdAt: 1,
      updatedAt: 1,
      usedSeq: 1,
      rev: 1,
      deviceId: 'd',
    };
    const checkpoint: Checkpoint = {
      id: 'k',
      chatId: 'c',
      name: 'here',
      messageId: 'q1',
      createdAt: 1,
      rev: 1,
    };
    const data = graphData(
      'c',
      [...nodes, reserved].map(infoOf).toReversed(),
      [branch, { ...branch, id: 'gone', name: 'gone', deletedAt: 2 }],
      [checkpoint, { ...checkpoint, id: 'old', name: 'old', deletedAt: 2 }],
      'b',
    );
    expect(data).toEqual({
      chatId: 'c',
      nodes: [
        { id: 'q1', parentId: null, role: 'user', content: 'q1', createdAt: 1 },
        { id: 'a1', parentId: 'q1', role: 'assistant', content: 'a1', createdAt: 1 },
      ],
      branches: [{ name: 'main', headMessageId: 'a1', isActive: true }],
      checkpoints: [{ name: 'here', messageId: 'q1' }],
    });
  });

  it('comes to an end where messages that do not show follow each other in a ring', () => {
    const silent = (id: string, parentId: string, seq: number): NodeInfo =>
      infoOf(node(id, { parentId, seq, status: 'interrupted', data: message(id, '') }));
    const nodes = [
      silent('a1', 'a2', 0),
      silent('a2', 'a1', 1),
      infoOf(node('q3', { parentId: 'a2', seq: 2 })),
    ];
    expect(graphData('c', nodes, [], [], undefined).nodes.map(({ id }) => id)).toEqual(['q3']);
  });
});

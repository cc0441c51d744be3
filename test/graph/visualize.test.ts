import { describe, expect, it } from 'vitest';
import type { Branch, Checkpoint } from '../../src/graph/graph.ts';
import { infoOf } from '../../src/graph/graph.ts';
import { type GraphData, graphData, visualizeGraph } from '../../src/graph/visualize.ts';
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

  it('draws 5,000 messages in a row', () => {
    expect(visualizeGraph(picture([line(5_000)])).split('\n')).toHaveLength(5_004);
  });
});

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
});

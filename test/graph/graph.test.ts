import { describe, expect, it } from 'vitest';
import type { Branch, NodeInfo } from '../../src/graph/graph.ts';
import {
  chainIds,
  commonAncestor,
  contains,
  createGraph,
  dropNode,
  forksOf,
  infoOf,
  isVisible,
  lastUsedWith,
  markChain,
  nextBranchName,
  previewOf,
  putNode,
  putNodes,
  reachable,
  siblingsOf,
  textOf,
} from '../../src/graph/graph.ts';
import { graph, line, message, node } from '../support/graph.ts';

const branch = (name: string, headMessageId: string | null, usedSeq = 0): Branch => ({
  id: `id-${name}`,
  chatId: 'c',
  name,
  headMessageId,
  messageCount: 0,
  createdAt: 1,
  updatedAt: 1,
  usedSeq,
  rev: 1,
  deviceId: 'device',
});

describe('a chain', () => {
  it('leads from the root to its head', () => {
    const { graph: g } = graph('q1 > a1 > q2', 'q1 > b1');
    expect(chainIds(g, 'q2')).toEqual(['q1', 'a1', 'q2']);
    expect(chainIds(g, 'b1')).toEqual(['q1', 'b1']);
    expect(chainIds(g, 'q1')).toEqual(['q1']);
  });

  it('is empty without a head, or for an unknown one', () => {
    const { graph: g } = graph('q1 > a1');
    expect(chainIds(g, null)).toEqual([]);
    expect(chainIds(g, 'zzz')).toEqual([]);
  });

  it('can begin behind a message', () => {
    const { graph: g } = graph('q1 > a1 > q2 > a2', 'q1 > b1');
    expect(chainIds(g, 'a2', 'a1')).toEqual(['q2', 'a2']);
    expect(chainIds(g, 'a2', 'a2')).toEqual([]);
    expect(chainIds(g, 'b1', 'a1')).toEqual(['q1', 'b1']);
  });

  it('begins at the first message that is there, where one is missing', () => {
    const g = createGraph([
      infoOf(node('q2', { parentId: 'lost', depth: 3 })),
      infoOf(node('a2', { parentId: 'q2', seq: 1, depth: 4 })),
    ]);
    expect(chainIds(g, 'a2')).toEqual(['q2', 'a2']);
  });

  it('begins at its oldest message, where damaged data turn in a ring', () => {
    const { nodes } = graph('m0 > m1 > m2 > m3 > m4', 'm0 > m1 > m2 > m3 > b4');
    const bent = nodes.map((each) => infoOf(each.id === 'm1' ? { ...each, parentId: 'm3' } : each));
    for (const some of [bent, bent.toReversed(), [...bent.slice(3), ...bent.slice(0, 3)]]) {
      const g = createGraph(some);
      expect(chainIds(g, 'm4')).toEqual(['m1', 'm2', 'm3', 'm4']);
      expect(chainIds(g, 'b4')).toEqual(['m1', 'm2', 'm3', 'b4']);
      expect([contains(g, 'm4', 'm0'), commonAncestor(g, 'm4', 'm0')]).toEqual([false, null]);
      expect([...g.nodes.keys()].toSorted()).toEqual(['b4', 'm0', 'm1', 'm2', 'm3', 'm4']);
    }
  });

  it('does not begin anew for a message that follows itself', () => {
    const g = createGraph([
      infoOf(node('x', { parentId: 'x' })),
      infoOf(node('y', { parentId: 'x', seq: 1 })),
    ]);
    expect([chainIds(g, 'y'), g.children.get(null), g.children.get('x')]).toEqual([['x', 'y'], ['x'], ['y']]);
  });

  it('may be 100,000 messages long', { timeout: 60_000 }, () => {
    const { graph: g } = graph(line(100_000));
    expect(chainIds(g, 'm99999')).toHaveLength(100_000);
    expect(reachable(g, ['m99999']).size).toBe(100_000);
    expect(contains(g, 'm99999', 'm0')).toBe(true);
  });
});

describe('two heads', () => {
  const { graph: g } = graph('q1 > a1 > q2 > a2', 'q1 > a1 > u2', 'x1 > y1');

  it('hold the messages on their way to the root, and no others', () => {
    expect(contains(g, 'a2', 'a1')).toBe(true);
    expect(contains(g, 'a2', 'a2')).toBe(true);
    expect(contains(g, 'u2', 'q2')).toBe(false);
    expect(contains(g, 'a1', 'a2')).toBe(false);
    expect(contains(g, null, 'q1')).toBe(false);
    expect(contains(g, 'a2', 'zzz')).toBe(false);
    expect(contains(g, 'zzz', 'q1')).toBe(false);
  });

  it('have a last message in common, or none', () => {
    expect(commonAncestor(g, 'a2', 'u2')).toBe('a1');
    expect(commonAncestor(g, 'u2', 'a2')).toBe('a1');
    expect(commonAncestor(g, 'a2', 'a1')).toBe('a1');
    expect(commonAncestor(g, 'a2', 'a2')).toBe('a2');
    expect(commonAncestor(g, 'a2', 'y1')).toBeNull();
    expect(commonAncestor(g, 'a2', null)).toBeNull();
    expect(commonAncestor(g, 'a2', 'zzz')).toBeNull();
  });
});

describe('what is reachable', () => {
  it('is the union of the chains, and grows by one more head', () => {
    const { graph: g } = graph('q1 > a1', 'q1 > b1', 'x1');
    const reached = reachable(g, ['a1', null, 'zzz']);
    expect([...reached].toSorted()).toEqual(['a1', 'q1']);
    markChain(g, reached, 'b1');
    markChain(g, reached, null);
    expect([...reached].toSorted()).toEqual(['a1', 'b1', 'q1']);
  });
});

describe('versions of a message', () => {
  const { graph: g } = graph('q1 > a1', 'q1 > b1', 'q1 > c1', 'q2 > a2', 'q1 > u2');
  const all = reachable(g, ['a1', 'b1', 'a2', 'u2']);

  it('are the reachable children of its parent with its role, oldest first', () => {
    expect(siblingsOf(g, all, 'b1')).toEqual(['a1', 'b1']);
    expect(siblingsOf(g, all, 'u2')).toEqual(['u2']);
  });

  it('exist for the first message, too', () => {
    expect(siblingsOf(g, all, 'q1')).toEqual(['q1', 'q2']);
  });

  it('are none for an unknown message', () => {
    expect(siblingsOf(g, all, 'zzz')).toEqual([]);
  });

  it('do not count a reserved answer that has said nothing', () => {
    const { graph: some } = graph('q1 > a1');
    const reserved = infoOf(
      node('b1', { parentId: 'q1', seq: 9, depth: 2, status: 'streaming', data: message('b1', '') }),
    );
    putNode(some, reserved);
    const reached = reachable(some, ['a1', 'b1']);
    expect(isVisible(reserved)).toBe(false);
    expect(siblingsOf(some, reached, 'a1')).toEqual(['a1']);
    putNode(some, { ...reserved, parts: 1 });
    expect(siblingsOf(some, reached, 'a1')).toEqual(['a1', 'b1']);
  });

  it('stand in the order of seq, however they came', () => {
    const nodes = graph('q1 > a1', 'q1 > b1', 'q1 > c1').nodes.map(infoOf);
    const g = createGraph(nodes.toReversed());
    expect(g.children.get('q1')).toEqual(['a1', 'b1', 'c1']);
  });
});

describe('forks', () => {
  it('are told in the order in which they were made, those at the root, too', () => {
    const { graph: g } = graph('q1 > a1 > q2 > a2', 'q1 > a1 > q2 > b2', 'q1 > b1', 'x1');
    const reached = reachable(g, ['a2', 'b2', 'b1', 'x1']);
    expect(forksOf(g, reached)).toEqual([
      { parentId: 'q2', children: ['a2', 'b2'] },
      { parentId: 'q1', children: ['a1', 'b1'] },
      { parentId: null, children: ['q1', 'x1'] },
    ]);
    expect(forksOf(g, reachable(g, ['a2']))).toEqual([]);
  });
});

describe('a graph that changes', () => {
  it('replaces a node in place', () => {
    const { graph: g, nodes } = graph('q1 > a1', 'q1 > b1');
    putNode(g, { ...infoOf(nodes[1]!), preview: 'other', rev: 2 });
    expect(g.nodes.get('a1')).toMatchObject({ preview: 'other', rev: 2 });
    expect(g.children.get('q1')).toEqual(['a1', 'b1']);
  });

  it('moves a node that got another place', () => {
    const { graph: g, nodes } = graph('q1 > a1', 'x1');
    putNode(g, { ...infoOf(nodes[1]!), parentId: 'x1' });
    expect(g.children.get('q1')).toBeUndefined();
    expect(g.children.get('x1')).toEqual(['a1']);
  });

  it('takes many that turn a chain round for no ring, though some of them make one', () => {
    const { graph: g, nodes } = graph('q1 > a1 > q2');
    const parents = ['a1', 'q2', null];
    putNodes(
      g,
      nodes.map((node, i) => ({ ...infoOf(node), parentId: parents[i]! })),
    );
    expect(chainIds(g, 'q1')).toEqual(['q2', 'a1', 'q1']);
  });

  it('drops a node, and nothing happens for an unknown one', () => {
    const { graph: g } = graph('q1 > a1', 'q1 > b1');
    dropNode(g, 'a1');
    dropNode(g, 'zzz');
    expect(g.nodes.has('a1')).toBe(false);
    expect(g.children.get('q1')).toEqual(['b1']);
    dropNode(g, 'b1');
    expect(g.children.has('q1')).toBe(false);
  });
});

/** Infos of messages whose places are looked at: how often is told. */
function watched(infos: readonly NodeInfo[]): { readonly infos: readonly NodeInfo[]; looks: number } {
  const watch = { infos: [] as readonly NodeInfo[], looks: 0 };
  watch.infos = infos.map((info) => {
    const looked = <T>(value: T): T => {
      watch.looks += 1;
      return value;
    };
    return Object.defineProperties(
      { ...info },
      {
        seq: { enumerable: true, get: () => looked(info.seq) },
        depth: { enumerable: true, get: () => looked(info.depth) },
      },
    );
  });
  return watch;
}

describe('thousands', () => {
  const COUNT = 4000;
  /** Looks at places for each message: a walk through all others would be hundreds. */
  const FEW = 60;
  const answers = Array.from({ length: COUNT }, (_, i) =>
    infoOf(node(`a${i}`, { parentId: 'q1', seq: i + 1, depth: 2 })),
  );
  const oldestFirst = answers.map(({ id }) => id);

  it.each([
    ['oldest', answers],
    ['newest', answers.toReversed()],
    ['any', answers.toSorted((a, b) => (a.seq % 7) - (b.seq % 7))],
  ])('of answers to one question find their places, the %s first, and leave them again', (_which, infos) => {
    const watch = watched(infos);
    const g = createGraph([infoOf(node('q1')), ...watch.infos]);
    expect(g.children.get('q1')).toEqual(oldestFirst);
    for (const { id } of infos) dropNode(g, id);
    expect(g.children.has('q1')).toBe(false);
    expect(watch.looks).toBeLessThan(COUNT * FEW);
  });

  it('of answers are not copied for one more', () => {
    const g = createGraph([infoOf(node('q1')), ...answers]);
    const all = g.children.get('q1');
    putNode(g, infoOf(node('late', { parentId: 'q1', seq: COUNT + 1, depth: 2 })));
    expect(g.children.get('q1')).toBe(all);
    expect(all?.at(-1)).toBe('late');
  });

  it('of branches that share their way are asked once for it', () => {
    const chain = Array.from({ length: COUNT }, (_, i) =>
      infoOf(node(`m${i}`, { parentId: i === 0 ? null : `m${i - 1}`, seq: i, depth: i + 1 })),
    );
    const lone = infoOf(node('lone', { seq: COUNT }));
    const watch = watched(chain);
    const g = createGraph([...watch.infos, lone]);
    const branches = chain.map(({ id }, i) => branch(`b${i}`, id, i));
    watch.looks = 0;
    expect(lastUsedWith(g, [...branches, branch('main', 'lone')], 'lone')?.name).toBe('main');
    expect(lastUsedWith(g, branches, 'm0')?.name).toBe(`b${COUNT - 1}`);
    expect(watch.looks).toBeLessThan(COUNT * FEW);
  });
});

describe('branches', () => {
  it('get the first free name after their base', () => {
    expect(nextBranchName('main', ['main'])).toBe('main-v2');
    expect(nextBranchName('main', ['main', 'main-v2', 'main-v4'])).toBe('main-v3');
    expect(nextBranchName('main', ['main', 'main-v3', 'main-volatile', 'main-v2-v2'])).toBe('main-v2');
    expect(nextBranchName('main-v2', ['main', 'main-v2'])).toBe('main-v2-v2');
    expect(nextBranchName('main', [])).toBe('main-v2');
  });

  it('are found by what they hold: the one used last', () => {
    const { graph: g } = graph('q1 > a1', 'q1 > b1');
    const branches = [branch('main', 'a1', 3), branch('main-v2', 'b1', 5), branch('empty', null, 9)];
    expect(lastUsedWith(g, branches, 'q1')?.name).toBe('main-v2');
    expect(lastUsedWith(g, branches, 'a1')?.name).toBe('main');
    expect(lastUsedWith(g, branches, 'zzz')).toBeUndefined();
  });
});

describe('a message in a few words', () => {
  const long = 'x'.repeat(50);

  it('is its text parts', () => {
    const parts = [
      { type: 'text', text: 'one' },
      { type: 'step-start' },
      { type: 'text', text: 'two' },
    ] as const;
    expect(textOf({ id: 'a', role: 'assistant', parts: [...parts] })).toBe('one two');
    expect(textOf(message('a', ''))).toBe('');
  });

  it('is what the person wrote, without what its marks tell of', () => {
    const note = '<system-reminder>note</system-reminder>';
    const mark = { partIndex: 1, start: 3, end: 5 + note.length, mode: 'inline' };
    const told = (text: string, reminders: unknown): string =>
      textOf({
        ...message('q1', ''),
        metadata: { reminders },
        parts: [{ type: 'step-start' }, { type: 'text', text }],
      });
    expect(told(`one\n\n${note}`, [mark])).toBe('one');
    expect(
      told(`one\n\n${note}\n\n${note}`, [mark, { ...mark, start: mark.end, end: mark.end * 2 - 3 }]),
    ).toBe('one');
    expect(told(`${note} typed by a person`, [mark])).toBe(`${note} typed by a person`);
    expect(told('edited since', [mark])).toBe('edited since');
    const odd = [null, 5, {}, { ...mark, partIndex: -1 }, { ...mark, partIndex: 0.5 }, { ...mark, end: '9' }];
    expect(told(`one\n\n${note}`, odd)).toBe(`one\n\n${note}`);
    expect(told('one', 'buy milk')).toBe('one');
  });

  it('is cut after 50 characters', () => {
    expect(previewOf(message('a', long))).toBe(long);
    expect(previewOf(message('a', `${long}y`))).toBe(`${long}...`);
  });

  it('stands on one line', () => {
    expect(previewOf(message('a', 'one\ntwo\r\n\tthree\u2028four'))).toBe('one two   three four');
  });

  it('keeps the last character whole', () => {
    expect(previewOf(message('a', `${long.slice(1)}😀`))).toBe(`${long.slice(1)}...`);
    expect(previewOf(message('a', `${long.slice(2)}😀`))).toBe(`${long.slice(2)}😀`);
    expect(previewOf(message('a', `${long.slice(2)}😀y`))).toBe(`${long.slice(2)}😀...`);
  });

  it('tells how many parts there are, and leaves the body out', () => {
    const info = infoOf(node('q1'));
    expect(info).toMatchObject({ id: 'q1', parts: 1, preview: 'q1' });
    expect(info).not.toHaveProperty('data');
  });
});

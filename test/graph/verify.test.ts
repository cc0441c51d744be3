import type { UIMessage } from 'ai';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Branch, Chat, Checkpoint, NodeInfo } from '../../src/graph/graph.ts';
import { chainIds, createGraph, infoOf, reachable } from '../../src/graph/graph.ts';
import { examineBodies, type ExaminedRecords } from '../../src/graph/verify.ts';
import { campaign } from '../support/campaign.ts';
import { examine } from '../support/examine.ts';
import { graph, line, message, node } from '../support/graph.ts';

const branch = (name: string, headMessageId: string | null, more: Partial<Branch> = {}): Branch => ({
  id: `b-${name}`,
  chatId: 'c',
  name,
  headMessageId,
  messageCount: 0,
  createdAt: 1,
  updatedAt: 1,
  usedSeq: 0,
  rev: 1,
  deviceId: 'device',
  ...more,
});

const checkpoint = (name: string, messageId: string): Checkpoint => ({
  id: `c-${name}`,
  chatId: 'c',
  name,
  messageId,
  createdAt: 1,
  rev: 1,
});

/** A whole chat: a branch for each path, `main` the first. */
function chat(...paths: readonly string[]): ExaminedRecords {
  const { nodes, heads, graph: whole } = graph(...paths);
  const branches = heads.map((id, i) =>
    branch(i === 0 ? 'main' : `main-v${i + 1}`, id, { messageCount: whole.nodes.get(id)?.depth ?? 0 }),
  );
  return { chat: row(nodes.length), nodes: nodes.map(infoOf), branches, checkpoints: [] };
}

const row = (messageCount: number, more: Partial<Chat> = {}): Chat => ({
  id: 'c',
  userId: 'me',
  createdAt: 1,
  updatedAt: 1,
  activeBranchId: 'b-main',
  rev: 1,
  messageCount,
  nextSeq: messageCount,
  epoch: 0,
  ...more,
});

let made = 0;
const options = { now: 99, createId: (): string => `new-${(made += 1)}` };

const change = (records: ExaminedRecords, id: string, fields: Partial<NodeInfo>): ExaminedRecords => ({
  ...records,
  nodes: records.nodes.map((info) => (info.id === id ? { ...info, ...fields } : info)),
});

const lose = (records: ExaminedRecords, ...ids: readonly string[]): ExaminedRecords => ({
  ...records,
  nodes: records.nodes.filter(({ id }) => !ids.includes(id)),
});

const found = (records: ExaminedRecords): string[] =>
  examine(records, options)
    .findings.map(({ kind, id }) => `${kind} ${id}`)
    .filter((text) => text !== 'wrong-count c');

/** The chat after its repair. */
function mended(records: ExaminedRecords): ExaminedRecords {
  const repair = examine(records, options);
  const newer = <T extends { readonly id: string }>(before: readonly T[], after: readonly T[]): T[] => [
    ...before.map((one) => after.find(({ id }) => id === one.id) ?? one),
    ...after.filter(({ id }) => !before.some((one) => one.id === id)),
  ];
  return {
    chat: repair.chat ?? records.chat,
    nodes: newer(
      records.nodes.filter((info) => !repair.dropped.includes(info)),
      repair.nodes,
    ),
    branches: newer(records.branches, repair.branches),
    checkpoints: newer(records.checkpoints, repair.checkpoints),
  };
}

const paths = ({ nodes, branches }: ExaminedRecords): Record<string, string> =>
  Object.fromEntries(
    branches
      .filter(({ deletedAt }) => deletedAt === undefined)
      .map(({ name, headMessageId }) => [name, chainIds(createGraph(nodes), headMessageId).join(' > ')]),
  );

test('a whole chat has no findings, and a repair of it writes nothing', () => {
  expect(examine(chat('q1 > a1 > q2', 'q1 > b1'), options)).toEqual({
    findings: [],
    chat: undefined,
    nodes: [],
    dropped: [],
    branches: [],
    checkpoints: [],
  });
});

describe('finds and mends', () => {
  test('a message that was lost in the middle', () => {
    const broken = lose(chat('q1 > a1 > q2 > a2'), 'a1');
    expect(found(broken)).toEqual(['orphan q2', 'wrong-count b-main', 'unreached q1']);
    expect(paths(mended(broken))).toEqual({ main: 'q2 > a2', 'main-v2': 'q1' });
  });

  test('a ring, cut where it is oldest', () => {
    const broken = change(chat('q1 > a1 > q2'), 'q1', { parentId: 'q2' });
    expect(found(broken)).toEqual(['cycle q1']);
    expect(paths(mended(broken))).toEqual({ main: 'q1 > a1 > q2' });
  });

  test('a message that follows itself', () => {
    const broken = change(chat('q1 > a1'), 'a1', { parentId: 'a1' });
    expect(found(broken)).toEqual(['cycle a1', 'wrong-count b-main', 'unreached q1']);
    expect(paths(mended(broken))).toEqual({ main: 'a1', 'main-v2': 'q1' });
  });

  test('a chat of which every branch is deleted: the one used last comes back', () => {
    const whole = chat('q1 > a1', 'q1 > b1');
    const branches = whole.branches.map((one, i) => ({ ...one, deletedAt: 5, usedSeq: i }));
    const broken = { ...whole, branches };
    expect(found(broken)).toEqual(['lost-branch b-main-v2', 'lost-branch c']);
    expect(paths(mended(broken))).toEqual({ 'main-v2': 'q1 > b1' });
    expect(found(mended(broken))).toEqual([]);
  });

  test('two records of one message', () => {
    const whole = chat('q1 > a1');
    const older = { ...(whole.nodes[1] as NodeInfo), rev: 0, seq: 7 };
    const broken = { ...whole, nodes: [...whole.nodes, older] };
    expect(found(broken)).toEqual(['duplicate-id a1']);
    expect(examine(broken, options).dropped).toEqual([older]);
    expect(paths(mended(broken))).toEqual({ main: 'q1 > a1' });
  });

  test('a branch that ends nowhere: it leads to what nothing else reaches', () => {
    const broken = lose(chat('q1 > a1 > q2 > a2', 'q1 > b1'), 'a2');
    expect(found(broken)).toEqual(['dangling-head b-main']);
    expect(paths(mended(broken))).toEqual({ main: 'q1 > a1 > q2', 'main-v2': 'q1 > b1' });
  });

  test('a branch that ends nowhere and has nothing to lead to', () => {
    const broken = lose(chat('q1'), 'q1');
    expect(found(broken)).toEqual(['dangling-head b-main']);
    expect(paths(mended(broken))).toEqual({ main: '' });
  });

  test('a chat whose branches are lost', () => {
    const broken = { ...chat('q1 > a1', 'q1 > b1'), branches: [] };
    expect(found(broken)).toEqual(['unreached a1', 'unreached b1', 'lost-branch c']);
    expect(paths(mended(broken))).toEqual({ main: 'q1 > a1', 'main-v2': 'q1 > b1' });
  });

  test('two branches of one name; a deleted one may have had it', () => {
    const whole = chat('q1 > a1', 'q1 > b1', 'q1 > d1');
    const [main, second, third] = whole.branches as [Branch, Branch, Branch];
    const broken = {
      ...whole,
      branches: [main, { ...second, name: 'main' }, { ...third, name: 'main', deletedAt: 5 }],
    };
    expect(found(broken)).toEqual(['duplicate-name b-main-v2']);
    expect(paths(mended(broken))).toEqual({ main: 'q1 > a1', 'main-v2': 'q1 > b1' });
  });

  test('what deleted branches reach is not lost', () => {
    const whole = chat('q1 > a1', 'q1 > b1');
    const [main, second] = whole.branches as [Branch, Branch];
    expect(found({ ...whole, branches: [main, { ...second, deletedAt: 5 }] })).toEqual([]);
  });

  test('an answer that was reserved and never spoke needs no branch', () => {
    const reserved = infoOf(
      node('a1', { parentId: 'q1', seq: 1, depth: 2, status: 'streaming', data: message('a1', '') }),
    );
    const whole = chat('q1');
    expect(found({ ...whole, nodes: [...whole.nodes, reserved] })).toEqual([]);
  });

  test('an answer that grows may be counted, or not yet', () => {
    const whole = change(chat('q1 > a1'), 'a1', { status: 'streaming' });
    const kinds = (messageCount: number): string[] =>
      examine({ ...whole, chat: row(messageCount, { nextSeq: 2 }) }, options).findings.map(
        ({ kind }) => kind,
      );
    expect([kinds(0), kinds(1), kinds(2), kinds(3)]).toEqual([['wrong-count'], [], [], ['wrong-count']]);
  });

  test('counts that are off, told once where they begin', () => {
    const broken = ['q1', 'a1', 'q2'].reduce(
      (records, id) => change(records, id, { depth: { q1: 1, a1: 7, q2: 8 }[id] as number }),
      chat('q1 > a1 > q2'),
    );
    expect(found(broken)).toEqual(['wrong-count a1']);
    expect(mended(broken).nodes.map(({ depth }) => depth)).toEqual([1, 2, 3]);
  });

  test('a chat that opens on a branch that is gone, and counts its messages wrongly', () => {
    const broken = { ...chat('q1 > a1'), chat: row(7, { activeBranchId: 'zzz', nextSeq: 0 }) };
    expect(examine(broken, options).findings.map(({ kind }) => kind)).toEqual(['wrong-count', 'lost-branch']);
    expect(mended(broken).chat).toEqual(row(2));
  });

  test('a checkpoint that marks nothing', () => {
    const whole = { ...chat('q1'), checkpoints: [checkpoint('kept', 'q1'), checkpoint('lost', 'zzz')] };
    expect(found(whole)).toEqual(['dangling-checkpoint c-lost']);
    expect(mended(whole).checkpoints.map(({ deletedAt }) => deletedAt)).toEqual([undefined, 99]);
  });
});

test('tells what words are gone, and which tools never answered', () => {
  const { nodes } = chat('q1 > a1 > q2 > a2');
  const call = { type: 'tool-roll', toolCallId: 't', state: 'input-available', input: {} } as const;
  const bodies = new Map([
    ['q1', message('q1')],
    ['a1', { ...message('a1'), parts: [call] }],
    ['a2', { ...message('a2'), parts: [call] }],
  ]);
  const followed = new Set(nodes.map(({ parentId }) => parentId));
  expect(examineBodies(nodes, bodies, followed).map(({ kind, id, mends }) => [kind, id, mends])).toEqual([
    ['tool-without-result', 'a1', false],
    ['missing-body', 'q2', false],
  ]);
});

test.each([
  ['that nobody gave leave to', { state: 'approval-requested', approval: { id: 'w' } }, true],
  [
    'that was given leave, and never ran',
    { state: 'approval-responded', approval: { id: 'w', approved: true } },
    true,
  ],
  ['that was denied', { state: 'approval-responded', approval: { id: 'w', approved: false } }, false],
  ['that was told to be denied', { state: 'output-denied', approval: { id: 'w', approved: false } }, false],
])('tells which tools never answered, of those that ask first: one %s', (_, fields, isTold) => {
  const { nodes } = chat('q1 > a1 > q2');
  const part = { type: 'tool-roll', toolCallId: 't', input: {}, ...fields } as UIMessage['parts'][number];
  const bodies = new Map(nodes.map(({ id }) => [id, message(id)]));
  bodies.set('a1', { ...message('a1'), parts: [part] });
  const followed = new Set(nodes.map(({ parentId }) => parentId));
  const findings = examineBodies(nodes, bodies, followed);
  expect(findings.map(({ kind, id }) => [kind, id])).toEqual(isTold ? [['tool-without-result', 'a1']] : []);
});

test('takes a chat of 100,000 messages, and a ring of as many', { timeout: 60_000 }, () => {
  const whole = chat(line(100_000));
  expect(found(whole)).toEqual([]);
  expect(found(change(whole, 'm0', { parentId: 'm99999' }))).toEqual(['cycle m0']);
});

test('whatever is broken: one repair is enough, and every message that is left is on a branch', () => {
  const id = fc.constantFrom('q1', 'a1', 'q2', 'a2', 'b1', 'd1', 'zzz');
  const damage = fc.oneof(
    fc.record({ lose: id }),
    fc.record({ parent: id, of: id }),
    fc.record({ depth: fc.nat(9), of: id }),
    fc.record({ twice: id, rev: fc.nat(3) }),
    fc.record({ head: id, at: fc.nat(2) }),
    fc.record({ forget: fc.nat(2) }),
    fc.record({ name: fc.constantFrom('main', 'main-v2'), at: fc.nat(2) }),
    fc.record({ checkpoint: id }),
  );
  const broken = (records: ExaminedRecords, what: Record<string, unknown>): ExaminedRecords => {
    const at = Number(what['at'] ?? what['forget']);
    const set = (fields: Partial<Branch>): Branch[] =>
      records.branches.map((one, i) => (i === at ? { ...one, ...fields } : one));
    if ('lose' in what) return lose(records, String(what['lose']));
    if ('parent' in what) return change(records, String(what['of']), { parentId: String(what['parent']) });
    if ('depth' in what) return change(records, String(what['of']), { depth: Number(what['depth']) });
    if ('head' in what) return { ...records, branches: set({ headMessageId: String(what['head']) }) };
    if ('forget' in what) return { ...records, branches: records.branches.filter((_, i) => i !== at) };
    if ('name' in what) return { ...records, branches: set({ name: String(what['name']) }) };
    if ('checkpoint' in what)
      return {
        ...records,
        checkpoints: [...records.checkpoints, checkpoint('mark', String(what['checkpoint']))],
      };
    const twin = records.nodes.find((info) => info.id === what['twice']);
    return twin
      ? {
          ...records,
          nodes: [...records.nodes, { ...twin, seq: 50 + records.nodes.length, rev: Number(what['rev']) }],
        }
      : records;
  };
  fc.assert(
    fc.property(fc.array(damage, { maxLength: 6 }), (damages) => {
      const bad = damages.reduce(broken, chat('q1 > a1 > q2 > a2', 'q1 > b1', 'd1'));
      const good = mended(bad);
      expect(examine(good, options).findings).toEqual([]);
      expect(new Set(good.nodes.map((info) => info.id))).toEqual(new Set(bad.nodes.map((info) => info.id)));
      const reached = reachable(
        createGraph(good.nodes),
        good.branches.map(({ headMessageId }) => headMessageId),
      );
      expect(reached.size).toBe(good.nodes.length);
    }),
    campaign(2000),
  );
});

test('thousands of conversations that no branch reaches get branches with names of their own', () => {
  const spine = Array.from({ length: 8000 }, (_, i) => `spine-${i}`);
  const root = infoOf(node(spine[0] ?? ''));
  const nodes = spine.flatMap((id, i): NodeInfo[] => [
    { ...root, id, parentId: spine[i - 1] ?? null, seq: 2 * i, depth: i + 1 },
    { ...root, id: `end-${i}`, parentId: id, seq: 2 * i + 1, depth: i + 2 },
  ]);
  const { branches } = examine({ chat: row(16_000), nodes, branches: [], checkpoints: [] }, options);
  const named = (i: number): string => (i === 0 ? 'main' : `main-v${i + 1}`);
  expect(branches.map(({ name, headMessageId }) => [name, headMessageId])).toEqual(
    spine.map((_, i) => [named(i), `end-${i}`]),
  );
});

import { expect, test } from 'vitest';
import { Branches } from '../../src/graph/branches.ts';
import type { ChatDelta, ChatValue, EndsRecord, MessageRecord } from '../../src/graph/graph.ts';
import { createChat, join, recordsOf } from '../../src/graph/join.ts';
import { Reach } from '../../src/graph/reach.ts';

/**
 * What it costs to join chats and to derive their branches, in the browser in which they will be: two replicas of 10,000
 * messages that differ by 100 join in at most 10 ms, and a turn costs in a chat of 100,000 messages and 300 branches what it
 * costs in one of 1,000 and 3.
 *
 *     npx vitest bench --run --project='browser*' graph
 */
const key = (i: number): string => `key:00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;

function message(i: number, parent: number | null): MessageRecord {
  const version = { rev: 1, by: 'author-0123456789', status: 'complete', sum: 'abcdef', parts: 1 } as const;
  return {
    key: key(i),
    id: `id-${i}`,
    parent: parent === null ? null : key(parent),
    role: i % 2 === 0 ? 'user' : 'assistant',
    at: 1_700_000_000_000 + i,
    createdAt: 1_700_000_000_000 + i,
    chat: 'chat:1',
    versions: [{ ...version, preview: `Message ${i}: the first words that are shown of it` }],
  };
}

const record = (id: string, at: number, keys: readonly string[]): EndsRecord => ({
  id,
  at,
  createdAt: at,
  chat: 'chat:1',
  keys,
});

/** A long conversation with branches that leave it everywhere; new objects each time, as they come from a disk. */
function conversation(count: number, branchCount: number): ChatDelta {
  const each = Math.floor(count / branchCount);
  const messages = Array.from({ length: count }, (_, i) => {
    const isFirst = i % each === 0 && i > 0;
    return message(i, i === 0 ? null : isFirst ? Math.floor(i / 2) : i - 1);
  });
  const ends = Array.from({ length: branchCount }, (_, i) => {
    const last = i === branchCount - 1 ? count - 1 : (i + 1) * each - 1;
    return record(`branch-${i}`, i, [key(last)]);
  });
  return structuredClone({ messages, ends, marks: [] });
}

/** Milliseconds: the median of some runs, of which each is given what it needs before the clock runs. */
function cost<T>(runs: number, given: () => T, run: (given: T) => void): number {
  const times = Array.from({ length: runs }, () => {
    const input = given();
    const start = performance.now();
    run(input);
    return performance.now() - start;
  });
  return times.toSorted((a, b) => a - b)[Math.floor(runs / 2)] as number;
}

const told = (what: string, ms: number): void => console.log(`${what}: ${ms.toFixed(3)} ms`);

test('two replicas of 10,000 messages that differ by 100 join in at most 10 ms', () => {
  const all = conversation(10_000, 300);
  const one = { ...all, messages: all.messages.slice(0, 9_950) };
  const other = (): ChatDelta => ({
    ...conversation(10_000, 300),
    messages: conversation(10_000, 300).messages.toSpliced(9_900, 50),
  });
  const ms = cost(
    21,
    () => ({ chat: createChat(one), from: other() }),
    ({ chat, from }) => void join(chat, from),
  );
  told('join of two replicas of 10,000', ms);
  expect(ms).toBeLessThanOrEqual(10);
});

test('a chat is put together in whatever order it comes', () => {
  const inOrder = cost(
    5,
    () => conversation(100_000, 300),
    (all) => void createChat(all),
  );
  const backwards = cost(
    5,
    () => conversation(100_000, 300),
    (all) => void createChat({ ...all, messages: all.messages.toReversed() }),
  );
  told('a chat of 100,000', inOrder);
  told('the same, the last message first', backwards);
  expect(backwards).toBeLessThan(inOrder * 4);
});

test.for([
  { count: 10_000, branchCount: 300, most: 10 },
  { count: 10_000, branchCount: 5_000, most: 60 },
  { count: 100_000, branchCount: 300, most: 150 },
])(
  '$branchCount branches of $count messages are derived in at most $most ms',
  ({ count, branchCount, most }) => {
    const chat = createChat(conversation(count, branchCount));
    const { live } = new Branches(chat);
    const ends = [
      record(
        'main',
        0,
        live.map(({ end }) => end as string),
      ),
    ];
    const single = createChat({ ...recordsOf(chat), ends });
    const derive = (chat: ChatValue): number =>
      cost(
        11,
        () => chat,
        (chat) => void new Branches(chat),
      );
    const [ofMany, ofOne] = [derive(chat), derive(single)];
    told(`${branchCount} branches of ${count} messages`, ofMany);
    told(
      'their origins',
      cost(
        11,
        () => chat,
        (chat) => void new Reach(chat, live),
      ),
    );
    told('the same as ends of one record', ofOne);
    expect(Math.max(ofMany, ofOne)).toBeLessThanOrEqual(most);
  },
);

test('a turn costs the same in a long chat', () => {
  const [short, long] = [turnsIn(1_000, 3, 1), turnsIn(100_000, 3, 1)];
  told('a turn in 1,000 messages', short);
  told('a turn in 100,000 messages', long);
  told('a turn in 100,000 messages and 300 branches', turnsIn(100_000, 300, 1));
  told('a turn in 100,000 messages, of a record with two ends', turnsIn(100_000, 3, 2));
  expect(long).toBeLessThan(short * 3 + 0.02);
});

/** Turns behind the last message, each joined as a delta, with branches and what they reach. */
function turnsIn(count: number, branchCount: number, endCount: number): number {
  const { messages, ends } = conversation(count, branchCount);
  const chat: ChatValue = createChat({
    messages,
    ends: [
      ...ends.slice(0, -1),
      record('branch-last', ends.length, endCount === 1 ? [key(count - 1)] : [key(count - 1), key(1)]),
    ],
    marks: [],
  });
  const branches = new Branches(chat);
  const reach = new Reach(chat, branches.live);
  let last = count - 1;
  return cost(
    201,
    () => {
      last += 2;
      return {
        messages: [message(last - 1, last - 2), message(last, last - 1)],
        ends: [record('branch-last', ends.length, [key(last)])],
        marks: [],
      };
    },
    (delta) => {
      const joined = join(chat, delta);
      branches.update(joined);
      reach.update(branches.live);
    },
  );
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Branches } from '../../src/graph/branches.ts';
import {
  hasWords,
  upward,
  type ChatDelta,
  type ChatValue,
  type MessageRecord,
} from '../../src/graph/graph.ts';
import { createChat, join, recordsOf } from '../../src/graph/join.ts';
import { sameJson } from '../../src/graph/same.ts';
import { campaign } from '../support/campaign.ts';
import { plainBranches } from '../support/plainBranches.ts';
import { deleted, endsOf, joined, named, said, table, told } from '../support/records.ts';

// Whoever joins what, in whatever order, in whatever pieces and as often as they like: it is one chat. A small world, so that
// its records meet: eight messages, of which each has one parent, three records, few names.

const KEYS = Array.from({ length: 8 }, (_, i) => `m${i}`);
const key = fc.constantFrom(...KEYS);
const by = fc.constantFrom('a', 'b');
const rev = fc.integer({ min: 1, max: 3 });
const record = fc.constantFrom('main', 'r', 's');

/** Parents by key: a world has one, unless its disks are damaged. Any may be a ring, or lead nowhere. */
const world = fc.array(fc.constantFrom(null, 'lost', ...KEYS), { minLength: 8, maxLength: 8 });
/** Clocks differ by an hour: `at` says little of the place. */
const ats = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 8, maxLength: 8 });

const version = fc.oneof(
  fc.record({ rev, by, sum: fc.constantFrom('x', 'y') }),
  fc.record({ rev, by, sum: fc.constant('') }),
  fc.record({ rev, by, sum: fc.constant(''), gone: fc.constant(true as const) }),
);
const mark = fc.oneof(
  fc.record({ record, key: fc.option(key), name: fc.constantFrom('main', 'x', 'x-v2'), rev, by }),
  fc.record({ record, key: fc.option(key), on: fc.boolean(), at: fc.integer({ min: 0, max: 3 }), rev, by }),
);
const piece = fc.record({
  messages: fc.array(fc.tuple(fc.nat({ max: 7 }), version), { maxLength: 4 }),
  ends: fc.array(fc.tuple(record, fc.array(key, { maxLength: 2 }), fc.nat({ max: 2 })), { maxLength: 2 }),
  marks: fc.array(mark, { maxLength: 2 }),
});

interface World {
  readonly pieces: readonly ChatDelta[];
}

function worldOf(
  parents: readonly (string | null)[],
  at: readonly number[],
  pieces: readonly Piece[],
): World {
  const message = ([i, fields]: Piece['messages'][number]): MessageRecord =>
    said(KEYS[i]!, parents[i]!, { ...fields, at: at[i]!, createdAt: i });
  const markOf = (one: Piece['marks'][number]): ChatDelta['marks'][number] =>
    'name' in one ? named(one.record, one.key, one.name, one) : deleted(one.record, one.key, one);
  return {
    pieces: pieces.map(({ messages, ends, marks }) => ({
      messages: messages.map(message),
      ends: ends.map(([id, keys, made]) => endsOf(id, keys, made)),
      marks: marks.map(markOf),
    })),
  };
}
type Piece = typeof piece extends fc.Arbitrary<infer T> ? T : never;

const worlds = fc
  .tuple(world, ats, fc.array(piece, { minLength: 1, maxLength: 8 }))
  .map((all) => worldOf(...all));
/** Worlds of disks that are sound: no ring. */
const sound = fc
  .tuple(
    world.map((parents) => parents.map((parent, i) => (KEYS.indexOf(parent ?? '') < i ? parent : null))),
    ats,
    fc.array(piece, { minLength: 1, maxLength: 8 }),
  )
  .map((all) => worldOf(...all));
/** Worlds in which each message may have come to two places. */
const damaged = fc
  .tuple(worlds, world, ats, fc.array(piece, { minLength: 1, maxLength: 6 }))
  .map(([one, ...other]) => ({ pieces: [...one.pieces, ...worldOf(...other).pieces] }));

const runs = campaign(500);

describe('joining', () => {
  it('gives one chat, in any order, in any grouping and twice', () => {
    expectInAnyOrder(sound, told);
  });

  // Which ends another one stands behind is told by parents, and there a message has two.
  it('gives one chat but for its ends where disks are damaged', () => {
    expectInAnyOrder(fc.oneof(worlds, damaged), toldWithoutEnds);
  });

  it('never takes words or messages away', () => {
    expectNeverLess(damaged, everythingIn);
  });

  it('never takes an end away, but where another one stands behind it', () => {
    expectNeverLess(sound, endsIn);
  });
});

function expectInAnyOrder(some: fc.Arbitrary<World>, tell: (chat: ChatValue) => string): void {
  const shuffled = some.chain(({ pieces }) =>
    fc.tuple(
      fc.constant(pieces),
      fc.shuffledSubarray([...pieces], { minLength: pieces.length }),
      fc.nat({ max: pieces.length }),
    ),
  );
  fc.assert(
    fc.property(shuffled, ([pieces, others, cut]) => {
      const one = joined(...pieces);
      const [left, right] = [joined(...others.slice(0, cut)), joined(...others.slice(cut))];
      const grouped = joined(recordsOf(left), recordsOf(right));
      expect(tell(grouped)).toBe(tell(one));
      expect(tell(joined(...pieces, ...others))).toBe(tell(one));
      const again = join(one, recordsOf(grouped));
      expect([again.messages, again.marks, again.isMoved]).toEqual([[], [], false]);
      if (tell !== told) return;
      expect(table(new Branches(grouped).live)).toEqual(table(new Branches(one).live));
      expect(table(new Branches(grouped).deleted)).toEqual(table(new Branches(one).deleted));
    }),
    runs,
  );
}

function toldWithoutEnds(chat: ChatValue): string {
  const ends = new Map([...chat.ends].map(([id, record]) => [id, { ...record, keys: [] }]));
  return told({ ...chat, ends });
}

function expectNeverLess(some: fc.Arbitrary<World>, all: (chat: ChatValue) => ReadonlySet<string>): void {
  fc.assert(
    fc.property(some, ({ pieces }) => {
      const chat = createChat();
      let before = all(chat);
      for (const delta of pieces) {
        join(chat, delta);
        const after = all(chat);
        expect([...before].filter((one) => !after.has(one))).toEqual([]);
        before = after;
      }
    }),
    runs,
  );
}

/** Everything that was said, one text each. */
function everythingIn(chat: ChatValue): Set<string> {
  const versions = recordsOf(chat).messages.flatMap(({ key, versions }) =>
    versions.filter(hasWords).map(({ rev, by, sum }) => `${key} ${rev} ${by} ${sum}`),
  );
  return new Set([...versions, ...chat.messages.keys(), ...chat.ends.keys(), ...chat.marks.keys()]);
}

/** The ends of all records, and what they stand behind. */
function endsIn(chat: ChatValue): Set<string> {
  const ends = [...chat.ends.values()].flatMap(({ id, keys }) => {
    const all = keys.flatMap((end) => [end, ...[...upward(chat, end)].map(({ key: one }) => one)]);
    return all.map((one) => `${id} ${one}`);
  });
  return new Set(ends);
}

describe('branches', () => {
  it('that were told of each join are those of somebody who reads the chat now', () => {
    fc.assert(
      fc.property(fc.oneof(worlds, damaged), ({ pieces }) => {
        const chat = createChat();
        const branches = new Branches(chat);
        for (const delta of pieces) {
          const [live, gone] = [branches.live, branches.deleted];
          branches.update(join(chat, delta));
          const fresh = new Branches(chat);
          expect(table(branches.live)).toEqual(table(fresh.live));
          expect(table(branches.deleted)).toEqual(table(fresh.deleted));
          expect(branches.live === live).toBe(sameJson(branches.live, live));
          expect(branches.deleted === gone).toBe(sameJson(branches.deleted, gone));
        }
      }),
      runs,
    );
  });

  it('are those of the design, sentence by sentence', () => {
    fc.assert(
      fc.property(fc.oneof(worlds, damaged), ({ pieces }) => {
        const chat = joined(...pieces);
        const [derived, plain] = [new Branches(chat), plainBranches(chat)];
        const live = derived.live.map(({ id, head, end, at, name }) => ({ id, head, end, at, name }));
        expect(live).toEqual(plain.live.map(({ deletion: _deletion, ...way }) => way));
        const gone = derived.deleted.map((way) => [way.id, way.name, way.deleted?.id]);
        expect(gone).toEqual(plain.deleted.map((way) => [way.id, way.name, way.deletion?.id]));
      }),
      runs,
    );
  });
});

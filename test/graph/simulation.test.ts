import { describe, expect, it } from 'vitest';
import type { Way } from '../../src/graph/branches.ts';
import {
  hasWords,
  isGone,
  type ChatDelta,
  type ChatValue,
  type MessageRecord,
} from '../../src/graph/graph.ts';
import { createChat, join, recordsOf } from '../../src/graph/join.ts';
import { kindOf, messageOfMark, recordOf } from '../../src/graph/marks.ts';
import { badStories, patience } from '../support/campaign.ts';
import { plainWorld, RULES, type Rules } from '../support/plainWorld.ts';
import { simulate } from '../support/simulation.ts';

describe('stories of tabs, devices and faults', () => {
  it(
    'lose nothing that was acknowledged, and all agree in the end',
    async () => expect(await badStories(150, (seed) => simulate(seed, plainWorld))).toEqual([]),
    patience,
  );
});

/** Joins what is made of a delta, in the light of what is known. */
function joining(change: (delta: ChatDelta, into: ChatValue) => ChatDelta): Partial<Rules> {
  return { join: (into, delta) => void join(into, change(delta, into)) };
}

function messages(change: (record: MessageRecord, into: ChatValue) => MessageRecord): Partial<Rules> {
  return joining((delta, into) => ({ ...delta, messages: delta.messages.map((one) => change(one, into)) }));
}

/** A chat in which these records stand in the place of those that are known. */
function replaced(into: ChatValue, change: (all: ChatDelta) => ChatDelta): void {
  Object.assign(into, createChat(change(recordsOf(into))));
}

function showing(change: (ways: readonly Way[], chat: ChatValue) => readonly Way[]): Partial<Rules> {
  return { branches: (chat) => change(RULES.branches(chat), chat) };
}

const planted: Record<string, { rules: Partial<Rules>; tells: string }> = {
  'of two versions only the first one that came is kept': {
    rules: messages((record, into) => into.messages.get(record.key) ?? record),
    tells: 'words are lost',
  },
  'of two versions only the greatest is kept': {
    rules: {
      join: (into, delta) => {
        join(into, delta);
        replaced(into, (all) => ({
          ...all,
          messages: all.messages.map((record) => ({ ...record, versions: record.versions.slice(-1) })),
        }));
      },
    },
    tells: 'words are lost',
  },
  'what takes a message back beats its words': {
    rules: messages((record, into) => {
      const known = into.messages.get(record.key);
      return known && isGone(known) ? known : record;
    }),
    tells: 'words are lost',
  },
  'an account without a body beats one with it': {
    rules: {
      join: (into, delta) => {
        join(into, delta);
        const bare = new Set(
          delta.messages.flatMap(({ key, versions }) =>
            versions.filter(({ body }) => !body).map(({ sum }) => `${key} ${sum}`),
          ),
        );
        replaced(into, (all) => ({
          ...all,
          messages: all.messages.map((record) => ({
            ...record,
            versions: record.versions.map(({ body, ...version }) =>
              body && !bare.has(`${record.key} ${version.sum}`) ? { ...version, body } : version,
            ),
          })),
        }));
      },
    },
    tells: 'words are lost',
  },
  'two versions of one author and number are one': {
    rules: messages((record, into) => {
      const known = into.messages.get(record.key)?.versions ?? [];
      const isNew = ({ rev, by, sum }: MessageRecord['versions'][number]): boolean =>
        !known.some((one) => one.rev === rev && one.by === by && one.sum !== sum && hasWords(one));
      return { ...record, versions: record.versions.filter(isNew) };
    }),
    tells: 'words are lost',
  },
  'the ends that came last count': {
    rules: {
      join: (into, delta) => {
        const last = new Map(delta.ends.map((record) => [record.id, record]));
        join(into, delta);
        replaced(into, (all) => ({ ...all, ends: all.ends.map((record) => last.get(record.id) ?? record) }));
      },
    },
    tells: 'words are on no branch',
  },
  'an end that was taken back is moved up': {
    rules: {
      join: (into, delta) => {
        join(into, delta);
        const above = (key: string): string => {
          const record = into.messages.get(key);
          return record && isGone(record) && record.parent ? above(record.parent) : key;
        };
        replaced(into, (all) => ({
          ...all,
          ends: all.ends.map((record) => ({ ...record, keys: record.keys.map(above) })),
        }));
      },
    },
    tells: 'words are on no branch',
  },
  'the mark that came first counts': {
    rules: joining((delta, into) => ({
      ...delta,
      marks: delta.marks.filter(({ id }) => !into.marks.has(id)),
    })),
    tells: 'they do not agree',
  },
  'branches are ordered as they came': {
    rules: showing((ways, chat) =>
      [...chat.ends.keys()].flatMap((id) => ways.filter(({ record }) => record === id)),
    ),
    tells: 'they do not agree',
  },
  'two branches may have one name': {
    rules: showing((ways) => ways.map((way) => ({ ...way, name: way.name.replace(/-v\d+$/, '') }))),
    tells: 'one name twice',
  },
  'a derived id is that of the record': {
    rules: showing((ways) => ways.map((way) => ({ ...way, id: way.record }))),
    tells: 'one id twice',
  },
  'a name is that of the record': {
    rules: showing((ways, chat) =>
      ways.map((way) => {
        const marks = [...chat.marks.values()].filter(
          (mark) => kindOf(mark) === 'name' && recordOf(mark.id) === way.record,
        );
        const last = marks.toSorted((a, b) => b.rev - a.rev || (a.id < b.id ? -1 : 1))[0];
        const { name } = (last?.value ?? way) as { name: string };
        return { ...way, name };
      }),
    ),
    tells: 'a name is on another branch',
  },
  'a deletion is forgotten': {
    rules: joining((delta) => ({
      ...delta,
      marks: delta.marks.filter((mark) => kindOf(mark) !== 'deletion'),
    })),
    tells: 'a deleted branch is back',
  },
  'a deletion covers all ends of its record': {
    rules: showing((ways, chat) => {
      const isDeleted = ({ record }: Way): boolean =>
        [...chat.marks.values()].some(
          (mark) =>
            kindOf(mark) === 'deletion' &&
            recordOf(mark.id) === record &&
            (mark.value as { on: boolean }).on &&
            messageOfMark(mark) !== null,
        );
      const left = ways.filter((way) => !isDeleted(way));
      return left.length > 0 ? left : ways.slice(0, 1);
    }),
    tells: 'words are on no branch',
  },
  'all branches may be deleted': {
    rules: showing((ways, chat) =>
      ways.filter(
        ({ record, head }) =>
          (chat.marks.get(`deletion ${record} ${head}`)?.value as { on?: boolean })?.on !== true,
      ),
    ),
    tells: 'no branch is left',
  },
  'records of deleted chats are read': {
    rules: { living: (delta) => delta },
    tells: 'words of a deleted chat are back',
  },
  'only what waits is written to another database': {
    rules: { afterLoss: (_has, waiting) => recordsOf(waiting) },
    tells: 'words are lost',
  },
};

describe('a broken rule is found', () => {
  it.each(Object.entries(planted))('%s', async (_what, { rules, tells }) => {
    const found = new Set<string>();
    for (let seed = 1; seed <= 300 && !found.has(tells); seed += 1) {
      const { bad } = await simulate(seed, (random) => plainWorld(random, { ...RULES, ...rules }));
      for (const one of bad) found.add(one);
    }
    expect([...found]).toContain(tells);
  });
});

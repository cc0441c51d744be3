import { describe, expect, it } from 'vitest';
import { findKey, recordAt, type ChatValue } from '../../src/graph/graph.ts';
import { infoOf, reachableFrom, siblingsOf } from '../../src/graph/messages.ts';
import { joined, live, records, reserved, said } from '../support/records.ts';

const reached = (chat: ChatValue): Set<string> =>
  reachableFrom(
    chat,
    live(chat).map(({ head }) => head),
  );

describe('the versions of a message', () => {
  const chat = joined(
    records(
      [
        said('q1', null),
        said('a9', 'q1'),
        said('a3', 'q1'),
        said('s4', 'q1'),
        said('a5', 'q1'),
        reserved('a6', 'q1'),
      ],
      {
        main: ['a9'],
        x: ['a3'],
        y: ['s4'],
        z: ['a6'],
      },
    ),
  );

  it('are those of its role that show and that a live branch reaches, the oldest first', () => {
    expect(siblingsOf(chat, reached(chat), 'a9')).toEqual(['a3', 'a9']);
    expect(siblingsOf(chat, reached(chat), 's4')).toEqual(['s4']);
    expect(siblingsOf(chat, reached(chat), 'nowhere')).toEqual([]);
  });

  it('count one that grows from its first part on', () => {
    const growing = (rev: number) => (key: string) =>
      key === 'a6' ? { rev, by: 'a', parts: 1, preview: 'Once' } : undefined;
    expect(siblingsOf(chat, reached(chat), 'a9', growing(1))).toEqual(['a3', 'a6', 'a9']);
    // Of a draft that is of another version, nothing is shown.
    expect(siblingsOf(chat, reached(chat), 'a9', growing(2))).toEqual(['a3', 'a9']);
    expect(infoOf(chat, recordAt(chat, 'a6')!, growing(1))).toMatchObject({ parts: 1, preview: 'Once' });
  });
});

describe('a message', () => {
  it('learns of its parent when that comes later', () => {
    const parts = [records([said('a2', 'q1')]), records([said('q1', null, { id: 'asked' })])];
    const chat = joined(parts[0]!);
    expect(infoOf(chat, recordAt(chat, 'a2')!)).toMatchObject({
      parentId: null,
      parentKey: null,
      depth: 1,
    });
    const whole = joined(...parts);
    expect(infoOf(whole, recordAt(whole, 'a2')!)).toMatchObject({
      parentId: 'asked',
      parentKey: 'q1',
      depth: 2,
    });
  });
});

describe('looking for a message', () => {
  const chat = joined(
    records([
      said('key:1', null, { id: 'm' }),
      said('key:2', 'key:1', { id: 'n' }),
      said('key:3', 'key:2', { id: 'm' }),
      said('key:4', 'key:1', { id: 'm' }),
      said('key:5', null, { id: 'm' }),
    ]),
  );

  it('takes a key as it is', () => {
    expect(findKey(chat, 'key:4', 'key:3')).toBe('key:4');
    expect(findKey(chat, 'key:6', 'key:3')).toBeUndefined();
  });

  it('looks for an id on the chain that is shown first, from its end, then for the newest', () => {
    expect(findKey(chat, 'm', 'key:3')).toBe('key:3');
    expect(findKey(chat, 'm', 'key:2')).toBe('key:1');
    expect(findKey(chat, 'm', null)).toBe('key:5');
    expect(findKey(chat, 'n', 'key:5')).toBe('key:2');
    expect(findKey(chat, 'o', 'key:3')).toBeUndefined();
  });
});

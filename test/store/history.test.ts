import { describe, expect, it } from 'vitest';
import { type FoundChat, History } from '../support/history.ts';

// What every net holds against the disk in the end, held itself against disks that lie: each lie is told by name.

/** Two turns of one tab, one of another, an answer that was settled, and a chat of which nothing was kept. */
function said(): History {
  const history = new History();
  const write = (words: Record<string, string>, tab: string, kind: 'turn' | 'draft' | 'end' = 'turn'): void =>
    history.ask({ does: 'write', chatId: 'c', words, kind }, tab)('kept');
  write({ q1: 'first', a1: 'one' }, 'left');
  write({ q2: 'second', a2: '' }, 'left');
  write({ a2: 'tw' }, 'left', 'draft');
  write({ a2: 'two' }, 'left', 'end');
  write({ q3: 'third', a3: 'three' }, 'right');
  history.ask({ does: 'write', chatId: 'c', words: { q4: 'fourth' } }, 'right')('refused');
  history.ask({ does: 'write', chatId: 'c', words: { q5: 'fifth', a5: 'five' } }, 'right');
  history.ask({ does: 'write', chatId: 'gone', words: { g1: 'gone' } }, 'left')('kept');
  history.ask({ does: 'forget', chatId: 'gone' }, 'left')('kept');
  return history;
}

const WORDS: Readonly<Record<string, string>> = {
  q1: 'first',
  a1: 'one',
  q2: 'second',
  a2: 'two',
  q3: 'third',
  a3: 'three',
};

/** Messages with these words, one behind the other, all on one branch. */
function found(words: Readonly<Record<string, string>>, chatId = 'c'): FoundChat {
  const ids = Object.keys(words);
  const messages = ids.map((id, i) => ({ id, parentId: ids[i - 1] ?? null, words: words[id] ?? '' }));
  return { chatId, messages, chains: [ids] };
}

function without(...ids: readonly string[]): FoundChat {
  return found(Object.fromEntries(Object.entries(WORDS).filter(([id]) => !ids.includes(id))));
}

describe('the log of what everyone was told', () => {
  it('finds nothing wrong with a disk that has all of it, whatever became of what nobody was told of', () => {
    expect(said().check([found(WORDS), found({}, 'gone')])).toEqual([]);
    expect(said().check([found({ ...WORDS, q5: 'fifth', a5: 'five' })])).toEqual([]);
  });

  it('lets a turn stand where it was said first, though it was told only when it was said again', () => {
    const history = new History();
    const first = { does: 'write', chatId: 'c', words: { q1: 'first' } } as const;
    history.ask(first)('unknown');
    history.ask({ does: 'write', chatId: 'c', words: { q2: 'second' } })('kept');
    history.ask(first)('kept');
    expect(history.check([found({ q1: 'first', q2: 'second' })])).toEqual([]);
  });

  const whole = found(WORDS);
  const [q1, a1, ...later] = whole.messages;
  it.each<[string, FoundChat, string]>([
    ['lost a turn', without('q3', 'a3'), 'lost: "q3" of c'],
    ['has half of a turn', without('a3'), 'half a turn: "a3" of c is not there'],
    [
      'has half of a turn of which nobody was told',
      found({ ...WORDS, q5: 'fifth' }),
      'half a turn: "a5" of c is not there',
    ],
    [
      'has what was refused',
      found({ ...WORDS, q4: 'fourth' }),
      `nobody's words, or refused: "q4" of c says "fourth"`,
    ],
    ['has what nobody said', found({ ...WORDS, x: 'what?' }), 'nobody said: "x" of c'],
    [
      'has words that nobody said',
      found({ ...WORDS, a1: 'ten' }),
      `nobody's words, or refused: "a1" of c says "ten"`,
    ],
    ['has words that were replaced', found({ ...WORDS, a2: 'tw' }), 'old words: "a2" of c says "tw"'],
    [
      'leads to none of its turns',
      { ...whole, chains: [whole.chains[0]?.slice(0, 4) ?? []] },
      'out of reach: "q3" of c',
    ],
    [
      'has turns of one tab in another order',
      found({ q2: 'second', a2: 'two', q1: 'first', a1: 'one', q3: 'third', a3: 'three' }),
      'out of order: "q1" of c',
    ],
    [
      'has a message twice',
      { ...whole, messages: [...whole.messages, ...whole.messages.slice(0, 1)] },
      'twice: a message of c',
    ],
    [
      'has a message whose parent is not there',
      { ...whole, messages: [q1, a1 && { ...a1, parentId: 'nothing' }, ...later].filter((one) => !!one) },
      'without its parent: "a1" of c',
    ],
    [
      'has a chain with a hole',
      { ...whole, chains: [['q1', 'a1', 'a2', 'q2', 'q3', 'a3']] },
      'a hole before "a2" of c',
    ],
    ['brings back what was deleted', found({ g1: 'gone' }, 'gone'), 'came back: "g1" of gone'],
  ])('names a disk that %s', (_, chat, problem) => {
    expect(said().check([chat])).toContain(problem);
  });
});

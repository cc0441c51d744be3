import type { UIMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { joinAt } from '../../src/ai/seam.ts';
import { words } from './story.ts';

type Part = UIMessage['parts'][number];

const text = (words: string, state: 'streaming' | 'done' = 'done'): Part => ({
  type: 'text',
  text: words,
  state,
});
const step: Part = { type: 'step-start' };
const answer = (...parts: Part[]): UIMessage => ({ id: 'a', role: 'assistant', parts });

describe('the seam of an answer that goes on', () => {
  const cut = answer(step, text('One.'), text('The quick ', 'streaming'));

  it.each([
    ['begins in the middle of the sentence', [step, text('brown ')], 'a: One./The quick brown '],
    ['needs no step', [text('brown ')], 'a: One./The quick brown '],
    ['is not there before the first word', [step], 'a: One./The quick '],
    [
      'is not there where a tool comes first',
      [step, toolCall(), text('Four.')],
      'a: One./The quick /[dice input-available]/Four.',
    ],
    [
      'joins the first text only',
      [step, text('brown '), step, text('Then.')],
      'a: One./The quick brown /Then.',
    ],
  ])('%s', (_name, rest, expected) => {
    expect(words([joinAt(answer(...cut.parts, ...rest), cut)])).toBe(expected);
  });

  it('is joined once', () => {
    const joined = joinAt(answer(...cut.parts, step, text('brown '), step, text('Then.')), cut);
    expect(joinAt(joined, cut)).toBe(joined);
  });

  it('is in no other message, and in none that ended properly', () => {
    const other = { ...answer(...cut.parts, text('brown ')), id: 'b' };
    expect(joinAt(other, cut)).toBe(other);
    for (const before of [answer(text('One.')), answer(text('One.', 'streaming'), toolCall())]) {
      const after = answer(...before.parts, text('brown '));
      expect(joinAt(after, before)).toBe(after);
    }
    expect(joinAt(cut, undefined)).toBe(cut);
  });
});

function toolCall(): Part {
  return { type: 'tool-dice', toolCallId: '1', state: 'input-available', input: {} };
}

import type { UIMessage } from 'ai';
import { expect, test } from 'vitest';
import { calm, titleFrom } from '../../stories/demo/titles.ts';

const question = (text: string): UIMessage => ({ id: 'q', role: 'user', parts: [{ type: 'text', text }] });

test('a chat is called as its first question', () => {
  expect(titleFrom(question('How do I fork?'))).toBe('How do I fork?');
});

test('only the first line counts, on one line', () => {
  expect(titleFrom(question('\n  Fix   this:\n\nconst a = 1;'))).toBe('Fix this:');
});

test('a long question is cut between two words', () => {
  const title = titleFrom(
    question('Please explain to me, slowly and with care, how a lighthouse is built on a rock'),
  );
  expect(title).toBe('Please explain to me, slowly and with care, how a…');
});

test('a word without end is cut somewhere', () => {
  expect(titleFrom(question('x'.repeat(300)))).toHaveLength(61);
});

test('a question without words gives no title', () => {
  expect(titleFrom(question('  \n '))).toBeUndefined();
});

test('no sign is cut in two', () => {
  expect(titleFrom(question(`${'a'.repeat(59)}👍 and more`))).toBe(`${'a'.repeat(59)}…`);
  expect(titleFrom(question('👩‍👩‍👧‍👦'.repeat(20)))).toBe(`${'👩‍👩‍👧‍👦'.repeat(5)}…`);
});

test('a name turns no words of others, and stacks no tower of marks', () => {
  expect(titleFrom(question('Read \u202Eme\u2066 now'))).toBe('Read me now');
  expect(calm(`Z${'\u0301'.repeat(40)}!`)).toBe(`Z${'\u0301'.repeat(4)}!`);
  expect(calm('שָׁלוֹם · Tiếng Việt')).toBe('שָׁלוֹם · Tiếng Việt');
});

test('a question whose parts are not what they should be has a title all the same', () => {
  const parts = [
    null,
    { type: 'text', text: 5 },
    { type: 'file', filename: { a: 1 }, mediaType: 'text/plain' },
  ];
  expect(titleFrom({ id: 'q', role: 'user', parts: parts as unknown as UIMessage['parts'] })).toBe(
    'text/plain',
  );
});

import { expect, test } from 'vitest';
import { inOneLine } from '../../stories/demo/conversation/ToolCall.tsx';
import { highlight } from '../../stories/demo/markdown/highlight.ts';
import { seconds } from '../../stories/demo/quantities.ts';
import { measureThoughts, thoughtMs } from '../../stories/demo/thoughtTime.ts';

test.each(['ts', 'js', 'py', 'bash', 'json', 'css', 'html', 'sql'])('code in %s has colours', (language) => {
  const code = 'select 1 from "a"; a { color: red } <b class="c"># if "x"';
  const pieces = highlight(code, language) ?? [];
  expect(pieces.map(({ text }) => text).join('')).toBe(code);
  expect(pieces.some(({ kind }) => kind !== undefined)).toBe(true);
});

test('code is told apart by what it is; in a language that nobody knows it stays plain', () => {
  expect(highlight('const a = "b"; // c', 'ts')).toEqual([
    { text: 'const', kind: 'keyword' },
    { text: ' a = ' },
    { text: '"b"', kind: 'string' },
    { text: '; ' },
    { text: '// c', kind: 'comment' },
  ]);
  expect(highlight('a', 'brainfuck')).toBeUndefined();
});

test('a result is told in one line', () => {
  expect(inOneLine({ rolls: [3, 4], total: 7 })).toBe('rolls 3, 4 · total 7');
  expect(inOneLine('first\nsecond')).toBe('first');
  expect(inOneLine(undefined)).toBe('');
  expect(inOneLine({ text: 'x'.repeat(500) })).toHaveLength(200);
});

test('a time is told as people say it', () => {
  expect([0, 240, 3000, 12_400, 300_000].map(seconds)).toEqual(['0.1 s', '0.2 s', '3.0 s', '12 s', '5 min']);
});

test('thoughts are measured one after another, and found again in the message', () => {
  const tell = measureThoughts();
  const part = (type: string): { part: { type: string } } => ({ part: { type } });
  expect(tell(part('text-delta'))).toBeUndefined();
  tell(part('reasoning-start'));
  expect(tell(part('reasoning-end'))).toEqual({ thoughtMs: [expect.any(Number)] });
  const message = {
    id: 'a',
    role: 'assistant' as const,
    metadata: { thoughtMs: [5] },
    parts: [
      { type: 'reasoning' as const, text: 'cut off' },
      { type: 'reasoning' as const, text: 'went on' },
    ],
  };
  expect([thoughtMs(message, 0), thoughtMs(message, 1)]).toEqual([undefined, 5]);
  expect(thoughtMs({ ...message, metadata: 'odd' }, 0)).toBeUndefined();
});

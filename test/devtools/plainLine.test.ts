import { expect, test } from 'vitest';
import { plainLine } from '../../devtools/plainLine.ts';

test.each([
  ['*Take 2.* You asked', 'Take 2. You asked'],
  ['# A page of Markdown  You asked for “tea”', 'A page of Markdown You asked for “tea”'],
  ['The die shows **4984**.', 'The die shows 4984.'],
  ['- `one` ~~two~~ __three__ _four_', 'one two three four'],
  ['> said at [commonmark.org](https://commonma...', 'said at commonmark.org'],
  ['```ts const a = b * c * d', 'const a = b * c * d'],
])('%s reads as it is shown: %s', (text, line) => {
  expect(plainLine('assistant', text)).toBe(line);
});

test('signs that are no marks stay', () => {
  for (const text of ['2 * 3 = 6 # sure', 'snake_case and a*b', 'C# - and [1]'])
    expect(plainLine('assistant', text)).toBe(text);
  expect(plainLine('assistant', String.raw`You said “\*c\* \[d\]”`)).toBe('You said “*c* [d]”');
});

test('what a person wrote is shown as it was written', () => {
  expect(plainLine('user', ' # why **this**\n`now`? ')).toBe('# why **this** `now`?');
});

test('what would turn the line around is escaped, and what only joins and parts words stays', () => {
  for (const role of ['user', 'assistant'])
    expect(plainLine(role, 'cod\u202exe 👩‍🚀 \u200fשלום')).toBe('cod\\u{202e}xe 👩‍🚀 \u200fשלום');
});

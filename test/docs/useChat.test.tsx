import { readFileSync } from 'node:fs';
import { cleanup, render } from '@testing-library/react';
import { afterEach, describe, expect, test } from 'vitest';
import { AppDiff } from '../../stories/docs/AppDiff.tsx';
import { diffLines } from '../../stories/docs/diff.ts';

afterEach(cleanup);

const app = (name: string): string => readFileSync(`${import.meta.dirname}/../apps/${name}.tsx`, 'utf8');

describe('the page "Add contextree to your useChat app"', () => {
  test('shows the two apps that the tests drive: without one side, it is the other', () => {
    const { container } = render(<AppDiff />);
    const lines = (without: string): string =>
      [...container.querySelectorAll(`pre > :not(${without})`)]
        .map(({ textContent }) => textContent.slice(2))
        .join('');
    expect(lines('ins')).toBe(app('PlainApp'));
    expect(lines('del')).toBe(app('ContextApp'));
  });

  test('shows one line changed, and a provider around the other', () => {
    const { container } = render(<AppDiff />);
    const changed = (tag: string): string[] =>
      [...container.querySelectorAll(tag)].map(({ textContent }) => textContent.slice(2).trim());
    expect(changed('del')).toEqual([
      'return <Chat {...props} />;',
      expect.stringMatching(/^const chat = useChat\(\{ \.\.\.init, /),
    ]);
    expect(changed('ins').filter((line) => !line.startsWith('import'))).toEqual([
      'return (',
      expect.stringMatching(/^<ContextEngineProvider /),
      '<Chat {...props} />',
      '</ContextEngineProvider>',
      ');',
      changed('del')[1]?.replace('...init', '...useContextChat(init)'),
    ]);
  });
});

describe('a comparison', () => {
  const marks = { same: ' ', removed: '-', added: '+' };
  const diff = (before: string, after: string): string =>
    diffLines(before, after)
      .map(({ kind, text }) => marks[kind] + text)
      .join('|');

  test.each([
    ['a\nb\nc', 'a\nc', ' a|-b| c'],
    ['a\nc', 'a\nb\nc', ' a|+b| c'],
    ['a\nb', 'a\nx', ' a|-b|+x'],
    ['x\na\nb', 'a\nb\ny', '-x| a| b|+y'],
    ['a', 'a', ' a'],
    ['a\na\nb', 'a\nb', ' a|-a| b'],
  ])('of %j with %j', (before, after, expected) => {
    expect(diff(before, after)).toBe(expected);
  });
});

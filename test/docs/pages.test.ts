import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const folder = new URL('../../stories/docs/', import.meta.url);
const pages = readdirSync(folder).filter((file) => file.endsWith('.mdx'));

test.each(pages)('%s names tests that are there', (page) => {
  const text = readFileSync(new URL(page, folder), 'utf8');
  const tests = text.match(/\btest\/[\w/.-]+\.(?:test|spec|bench)\.tsx?/g) ?? [];
  expect(tests.filter((path) => !existsSync(fileAt(path)))).toEqual([]);
});

test('every promise about data has its test, by file and name', () => {
  const [promised = ''] = readFileSync(new URL('Promises.mdx', folder), 'utf8').split(
    '## What nobody can promise',
  );
  const rows = promised
    .split('\n')
    .filter((row) => row.startsWith('|') && !/^\| +(?:we promise|-+) /.test(row));
  expect(rows.length).toBeGreaterThan(25);
  expect(rows.filter((row) => !isHeld(row))).toEqual([]);
});

test('a promise whose test went, was renamed or is only spoken of is not held', () => {
  const rowOf = (name: string): string => `| we promise | [${name}](../../test/docs/pages.test.ts) |`;
  const held = [
    'a promise whose test went, was renamed or is only spoken of is not held',
    'a promise',
    'held',
  ];
  expect(held.map((name) => isHeld(rowOf(name)))).toEqual([true, false, false]);
  expect(isHeld('| we promise | [a promise](../../test/docs/gone.test.ts) |')).toBe(false);
  expect(isHeld('| we promise | `test/docs/pages.test.ts` "every promise about data has its test" |')).toBe(
    false,
  );
  expect(isHeld('| we promise | |')).toBe(false);
});

test('the figures of the last run are those of its reports, and none is typed', () => {
  const [, lastRun = ''] = readFileSync(new URL('Promises.mdx', folder), 'utf8').split('## The last run');
  expect(lastRun.replaceAll(/`[^`]*`/g, '')).not.toMatch(/\d/);
  expect(lastRun).toContain('<LastRun />');
  const { figures } = JSON.parse(readFileSync(new URL('figures.json', folder), 'utf8')) as {
    readonly figures: readonly Readonly<Record<'what' | 'cases' | 'failed' | 'day', unknown>>[];
  };
  expect(figures.length).toBeGreaterThan(5);
  for (const { what, cases, failed, day } of figures) {
    expect([what, typeof cases, failed]).toEqual([what, 'number', 0]);
    expect(day).toMatch(/^\d{4}-\d\d-\d\d$/);
  }
});

/** Whether a row links to the file of a test, and names it: as it is called there, not only in some text. */
function isHeld(row: string): boolean {
  const [, name = '', path = ''] = /\[([^\]]+)\]\(\.\.\/\.\.\/(test\/[\w/.-]+)\) *\|$/.exec(row) ?? [];
  if (path === '' || !existsSync(fileAt(path))) return false;
  const source = readFileSync(fileAt(path), 'utf8').replaceAll(/\(\s+/g, '(');
  return [`('${name}',`, `("${name}",`, `(\`${name}\`,`].some((called) => source.includes(called));
}

function fileAt(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}

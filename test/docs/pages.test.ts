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

/** Whether the test that a row names is in its file. */
function isHeld(row: string): boolean {
  const [, path = '', name = ''] = /`(test\/[\w/.-]+)` "([^"]+)" *\|$/.exec(row) ?? [];
  if (path === '' || !existsSync(fileAt(path))) return false;
  const source = readFileSync(fileAt(path), 'utf8');
  return [`'${name}'`, `"${name}"`, `\`${name}\``].some((quoted) => source.includes(quoted));
}

function fileAt(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}

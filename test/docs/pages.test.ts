import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readCosts } from '../../stories/docs/costs.ts';

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

test('what is done about what nobody can promise has its tests, too', () => {
  const text = readFileSync(new URL('Promises.mdx', folder), 'utf8');
  const [, rest = ''] = text.split('## What nobody can promise');
  const links = rest.split('## The last run')[0]?.match(/\[[^\]]+\]\([^)]+\)/g) ?? [];
  expect(links.length).toBeGreaterThan(4);
  expect(links.filter((link) => !isHeld(`${link} |`))).toEqual([]);
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

const bench = (path: string): string => readFileSync(fileAt(`test/bench/${path}`), 'utf8');

test('what the store costs is told for all that is promised of it, kept or not', () => {
  const costs = readCosts(bench('RESULTS.md'), bench('peers/RESULTS.md'));
  const told = costs.map(({ what, promise }) => `${what}, ${promise}`);
  for (const promised of [
    /^the whole chain, against getAll, at most 0\.6x$/,
    /^the last 50 of the chain, against getAll, at most 0\.05x$/,
    /^a new store, until the last 200 are there, against getAll, at most 0\.25x$/,
    /^opening 100,000 messages, against 10,000, at most 7x$/,
    /^a switch .* against a full load.*, at most 0\.05x$/,
    /^p95 of an append to 100 messages, against one strict put, at most 3x$/,
    /^p95 of an append to 10,000 messages, against one strict put, at most 3x$/,
    /^an append at 10,000 messages, against at 100, at most 1\.5x$/,
    /^import: .* Dexie, bulkPut takes, at least 5x$/,
    /^chain of 200 in a bush: .* Dexie, where\(chat\) takes, at least 20x$/,
    /^bytes on the disk, against the JSON: .*, at most 0\.6x$/,
  ])
    expect(told).toContainEqual(expect.stringMatching(promised));
  for (const { what, measured } of costs) expect([what, measured.length]).not.toEqual([what, 0]);
});

test('a promise is kept where each figure keeps it', () => {
  const own = [
    '## The store',
    '| what | promise | Chromium, twice | Firefox ESR | ours / theirs |',
    '| --- | --- | --: | --: | --- |',
    '| a chain | at most 0.6x | 0.514x, 0.612x | 0.600x | 5 ms / 9 ms |',
    '| a walk |  | 12.8x, 12.6x | 18.4x | 1 ms / 2 ms |',
    '### Bytes on the disk',
    '| chat | promise | at rest | first closed |',
    '| --- | --- | --: | --: |',
    '| imported | at most 0.6x | 0.439x | 0.450x |',
    '| turns | at most 0.6x | 0.614x | 0.590x |',
    '| turns of another kind |  | 0.614x | 0.590x |',
    '',
  ].join('\n');
  const peers = [
    '# Stores beside peers',
    '| task | store | times ours | promise | median |',
    '| --- | --- | --: | --- | --: |',
    '| import | Dexie | 4.14 to 5.01x | at least 5x: not kept | 760 ms |',
    '',
  ].join('\n');
  const kept = readCosts(`\n${own}`, peers).flatMap(({ what, measured }) =>
    measured.map(({ place, isKept }) => `${what}, ${place}: ${isKept}`),
  );
  expect(kept).toEqual([
    'a chain, Chromium: false',
    'a chain, Firefox ESR: true',
    'import: how many times as long Dexie takes, Chromium: false',
    'bytes on the disk, against the JSON: imported, Chromium, at rest: true',
    'bytes on the disk, against the JSON: turns, Chromium, at rest: false',
  ]);
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

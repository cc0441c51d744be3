import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const folder = new URL('../../stories/docs/', import.meta.url);
const pages = readdirSync(folder).filter((file) => file.endsWith('.mdx'));

test.each(pages)('%s names tests that are there', (page) => {
  const text = readFileSync(new URL(page, folder), 'utf8');
  const tests = text.match(/\btest\/[\w/.-]+\.(?:test|spec|bench)\.tsx?/g) ?? [];
  expect(tests.filter((path) => !existsSync(new URL(`../../${path}`, import.meta.url)))).toEqual([]);
});

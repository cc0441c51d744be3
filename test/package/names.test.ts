import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';

// Who reads the list of what an app can import has to find their way: what only authors of stores, tokenizers and price
// tables write stands in entries of its own.

const dist = join(inject('installed'), 'node_modules/contextree/dist/src');

/** All names, values and types, that an entry exports, those of `export *` among them. */
function namesOf(declarations: string): string[] {
  const text = readFileSync(join(dist, declarations), 'utf8');
  const [listed, all] = [/^export (?:type )?\{([^}]*)\}/gm, /^export \* from ["']\.\/([^"']+)\.ts["']/gm];
  return [
    ...[...text.matchAll(listed)].flatMap(([, names = '']) => names.split(',').map((name) => name.trim())),
    ...[...text.matchAll(all)].flatMap(([, file = '']) => namesOf(`${file}.d.ts`)),
  ].filter((name) => name !== '');
}

it('exports at most 120 names, types among them', () => {
  const names = namesOf('index.d.ts');
  expect(names).toEqual(expect.arrayContaining(['useEngine', 'ContextEngine', 'EstimateResult']));
  expect(new Set(names).size).toBe(names.length);
  expect(names.length).toBeLessThanOrEqual(120);
});

it('leaves to contextree/tokens what only prices and tokenizers of one’s own need', () => {
  const names = new Set(namesOf('index.d.ts'));
  const own = namesOf('tokens/index.d.ts').filter((name) => name !== 'EstimateResult');
  expect(own).toEqual(expect.arrayContaining(['loadModels', 'registerModel', 'Tokenizer', 'ModelPrices']));
  expect(own.filter((name) => names.has(name))).toEqual([]);
});

it('leaves to contextree/store what only a store of one’s own needs', () => {
  const names = new Set(namesOf('index.d.ts'));
  const own = ['Change', 'ChatRecords', 'CommitOptions', 'DraftOptions', 'StoreDelta', 'StoreNotice'];
  expect(namesOf('store/index.d.ts')).toEqual(expect.arrayContaining(own));
  expect(own.filter((name) => names.has(name))).toEqual([]);
});

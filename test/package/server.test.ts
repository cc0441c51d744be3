import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clientEntries, entries, fileOf, root } from '../../scripts/entries.mjs';
import { reach } from '../../scripts/sizes.mjs';

// A server component may import contextree/core and run it. That holds only while nothing that core reaches
// says 'use client' or pulls in React or the AI SDK, and a bundler can break it without a word.

const dist = join(root, 'dist');
const names = Object.keys(entries);
const saysUseClient = (file: string): boolean => /^\s*['"]use client['"]/.test(readFileSync(file, 'utf8'));

describe('the client line', () => {
  it('stands on the entries made of hooks and components, and on no other file', () => {
    const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.js'),
    );
    const marked = files.map((file) => join(dist, file)).filter(saysUseClient);
    expect(marked.toSorted()).toEqual(clientEntries.map(fileOf).toSorted());
  });

  it.each(names.filter((entry) => !clientEntries.includes(entry)))(
    'is not within reach of "%s"',
    async (entry) => {
      const { modules } = await reach(entry, true);
      expect([...modules].filter(saysUseClient)).toEqual([]);
    },
  );
});

describe('the packages that an entry loads', () => {
  const loads = async (entry: string): Promise<string[]> =>
    [...(await reach(entry, true)).packages].toSorted();

  it('are zustand without React alone for core', async () => {
    expect(await loads('core')).toEqual(['zustand/vanilla']);
  });

  it('are none for reminders', async () => {
    expect(await loads('reminders')).toEqual([]);
  });

  it('include neither React nor its hooks for ai/local', async () => {
    expect((await loads('ai/local')).filter((name) => /react/.test(name))).toEqual([]);
  });

  it('leave the AI SDK out of the package without it', async () => {
    for (const entry of ['', 'devtools', 'devtools/production']) {
      expect((await loads(entry)).filter((name) => /^(ai|@ai-sdk)\b/.test(name))).toEqual([]);
    }
  });

  it('come to the tokenizers only when they are first asked to count', async () => {
    for (const entry of ['tokenizers/o200k', 'tokenizers/cl100k']) {
      expect([...(await reach(entry)).packages]).toEqual([]);
      expect((await loads(entry)).every((name) => name.startsWith('gpt-tokenizer'))).toBe(true);
    }
  });
});

it('is one copy of everything, so that all entries share one React context', async () => {
  const reached = await Promise.all(names.map((entry) => reach(entry, true)));
  const files = [...new Set(reached.flatMap((entry) => [...entry.modules]))];
  const maps = files.map((file) => `${file}.map`).filter((file) => existsSync(file));
  const sources = maps.flatMap((file) => JSON.parse(readFileSync(file, 'utf8')).sources as string[]);
  const named = sources.map((source) => source.replace(/^(?:\.\.\/)+/, ''));
  expect(named).toContain('src/react/provider.tsx');
  expect(named.filter((source) => !existsSync(join(root, source)))).toEqual([]);
  expect(named.filter((source, i) => named.indexOf(source) !== i)).toEqual([]);
  expect(files.filter((file) => /from ["']contextree/.test(readFileSync(file, 'utf8')))).toEqual([]);
});

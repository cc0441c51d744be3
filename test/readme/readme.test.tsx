import 'fake-indexeddb/auto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanup, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import * as contextree from 'contextree';
import { ContextEngineProvider, IndexedDBContextStore } from 'contextree';
import * as ai from 'contextree/ai';
import { ChatPage } from './ChatPage.tsx';
import { POST } from './route.ts';

/** The README's code, as it stands there: each block is a file of this folder, compiled, linted and run. */
const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const files = readdirSync(import.meta.dirname).map((name) =>
  readFileSync(join(import.meta.dirname, name), 'utf8').trim(),
);

beforeEach(() =>
  vi.stubGlobal('fetch', (_url: string, init: RequestInit) =>
    POST(new Request('http://localhost/api/chat', init)),
  ),
);
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('every block of code in the README is a file that runs here', () => {
  const blocks = [...readme.matchAll(/^```tsx?\n(.*?)^```/gms)].map(([, code = '']) => code.trim());
  expect(blocks).toHaveLength(5);
  for (const block of blocks) expect(files).toContain(block);
});

test('the README tells of every hook', () => {
  const hooks = Object.keys({ ...contextree, ...ai }).filter((name) => /^use[A-Z]/.test(name));
  const told = [...readme.matchAll(/^\| `(use\w+)\(/gm)].map(([, name]) => name);
  expect(new Set(told)).toEqual(new Set(hooks));
});

test.each(['README.md', 'CONTRIBUTING.md'])('%s names files and folders that are there', (file) => {
  const text = readFileSync(join(root, file), 'utf8');
  const named = [...text.matchAll(/`((?:src|test|stories|scripts|guides)\/[\w./-]+?)(?:\/\*\*)?`/g)];
  expect(named.map(([, path = '']) => path).filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('the example runs: it answers, tries again beside the first answer, and pages between them', async () => {
  const person = userEvent.setup();
  render(<ChatPage />);
  await person.type(screen.getByRole('textbox', { name: 'Message' }), ' {Enter}');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(screen.queryAllByRole('article')).toEqual([]);
  await person.clear(screen.getByRole('textbox', { name: 'Message' }));
  await person.type(screen.getByRole('textbox', { name: 'Message' }), 'What is a graph?');
  await person.click(screen.getByRole('button', { name: 'Send' }));
  await screen.findByRole('button', { name: 'Send' });
  await waitFor(() => expect(screen.getAllByRole('article')).toHaveLength(2));
  const first = screen.getByRole('article', { name: 'Assistant' }).querySelector('p')?.textContent;
  expect(first).toContain('graph');

  await person.click(screen.getAllByRole('button', { name: 'Try again' })[1] as HTMLElement);
  await screen.findByText(/2 \/ 2/);
  await person.click(screen.getByRole('button', { name: '‹' }));
  await screen.findByText(/1 \/ 2/);
  expect(screen.getByRole('article', { name: 'Assistant' }).querySelector('p')?.textContent).toBe(first);
});

test('the engine without React saves, forks and keeps its first answer', async () => {
  const { engine, systemPrompt, messages } = await import('./engine.ts');
  expect([systemPrompt, messages.length]).toEqual(['<role>You are a concise tutor.</role>', 1]);
  const { shown } = await import('./reminders.ts');
  expect([engine.branch, shown.length]).toEqual(['main-v2', 1]);
  const branches = await new IndexedDBContextStore().listBranches('notes');
  expect(branches.map(({ name, messageCount }) => [name, messageCount])).toEqual(
    expect.arrayContaining([
      ['main', 2],
      ['main-v2', 1],
    ]),
  );
  engine.dispose();
});

test('the devtools stand beside the app, with a tokenizer of their own', async () => {
  const { devtools } = await import('./devtools.tsx');
  render(<ContextEngineProvider {...{ chatId: 'demo', userId: 'me', children: devtools }} />);
  const open = 'button[aria-label="Open contextree devtools"]';
  const shadows = (): Element[] => [...document.querySelectorAll('*')].filter((one) => one.shadowRoot);
  await waitFor(() => expect(shadows().some((one) => one.shadowRoot?.querySelector(open))).toBe(true));
});

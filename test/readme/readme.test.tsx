import 'fake-indexeddb/auto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cleanup, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { convertToModelMessages, streamText, type UIMessage } from 'ai';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDemoModel } from '../../stories/demo/model.ts';
import { ChatPage } from './ChatPage.tsx';

/** The README's example, as it stands there, against the README's route. */
const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
const example = readFileSync(join(import.meta.dirname, 'ChatPage.tsx'), 'utf8');

beforeEach(() =>
  vi.stubGlobal('fetch', (_url: string, init: RequestInit) =>
    route(new Request('http://localhost/api/chat', init)),
  ),
);
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

/** What the README's route does, with the demo's model. */
async function route(request: Request): Promise<Response> {
  const { system, messages } = (await request.json()) as { system: string; messages: UIMessage[] };
  const model = createDemoModel({ speed: 0 });
  const prompt = await convertToModelMessages(messages);
  // Both names, because this test runs on AI SDK 7 and the README says which one is whose.
  return streamText({ model, instructions: system, messages: prompt }).toUIMessageStreamResponse();
}

test('the example is the one that the README shows', () => {
  expect(readme).toContain(['```tsx', example.trim(), '```'].join('\n'));
});

test('the example runs: it answers, tries again beside the first answer, and pages between them', async () => {
  const person = userEvent.setup();
  render(<ChatPage />);
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

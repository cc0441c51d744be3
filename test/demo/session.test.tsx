import { fireEvent, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { assistantText, ContextEngine, InMemoryContextStore, user } from 'contextree';
import { exportSession } from 'contextree/session';
import { beforeEach, expect, test } from 'vitest';
import { furnish, openApp, store } from './room.tsx';

furnish();
beforeEach(() => openApp());

/** A session file of a chat of somebody else. */
async function sessionText(): Promise<string> {
  const engine = new ContextEngine({ store: new InMemoryContextStore(), chatId: 'theirs', userId: 'them' });
  await engine.set(user('Why is it broken?'), assistantText('It is not.')).save();
  await engine.updateChat({ title: 'A report' });
  return JSON.stringify(await exportSession(engine));
}

function drop(name: string, text: string): void {
  fireEvent.drop(document.body, { dataTransfer: { types: ['Files'], files: [new File([text], name)] } });
}

test('a session file that is dropped on the app is shown above it, and nothing of it is kept', async () => {
  drop('contextree-session-2026-11-26T0912.json', await sessionText());
  const copy = await screen.findByRole('dialog', { name: 'Read-only copy of A report' });
  expect(within(copy).getByRole('article', { name: 'You' }).textContent).toBe('Why is it broken?');
  expect(within(copy).getByRole('article', { name: 'Assistant' }).textContent).toBe('It is not.');
  await userEvent.click(within(copy).getByRole('button', { name: 'Close' }));
  expect(screen.queryByRole('dialog')).toBeNull();
  expect(await store.listChats()).toEqual([]);
  expect(screen.getByRole('textbox', { name: 'Message' })).toBeTruthy();
});

test('one that can not be read says why, and is no attachment', async () => {
  drop('contextree-session-2026-11-26T0912.json', '{"half":');
  expect(await screen.findByText(/^This is no session of contextree/)).toBeTruthy();
  expect(screen.queryByText('contextree-session-2026-11-26T0912.json')).toBeNull();
});

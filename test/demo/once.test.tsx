import { act, cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { InMemoryContextStore } from 'contextree';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { createAnswers } from '../../stories/demo/answers.ts';
import { App } from '../../stories/demo/App.tsx';
import { createSettings } from '../../stories/demo/settings/settings.ts';
import { fetchLate } from '../../stories/demo/ui/late.tsx';
import { chatAction } from './chatAction.ts';

// Two presses in the same moment are one: a key that bounces, a tap that counts twice, a script in a hurry.

// The first test loads the whole app, on a busy machine with others beside it.
vi.setConfig({ testTimeout: 20_000 });

let store: InMemoryContextStore;
let asked: number;

// What comes with the first press is there.
beforeAll(fetchLate);

beforeEach(async () => {
  store = new InMemoryContextStore();
  asked = 0;
  sessionStorage.clear();
  localStorage.clear();
  history.replaceState(null, '', '#/');
});

afterEach(cleanup);

function openApp(): void {
  const settings = createSettings();
  const answers = createAnswers(settings, { speed: 0 });
  const counting: typeof answers = {
    ...answers,
    sendMessages: (request) => {
      asked += 1;
      return answers.sendMessages(request);
    },
  };
  render(<App store={store} settings={settings} transport={counting} />);
}

async function ask(question: string): Promise<void> {
  const before = articles('You').length;
  await userEvent.type(screen.getByRole('textbox', { name: 'Message' }), `${question}{Enter}`);
  await waitFor(() => expect(articles('Assistant').length).toBeGreaterThan(before));
  await settled();
}

const articles = (name: string): HTMLElement[] => screen.queryAllByRole('article', { name });
const on = (article: HTMLElement | undefined, name: string): HTMLElement =>
  within(article as HTMLElement).getByRole('button', { name });
function branches(): number {
  if (!screen.queryByRole('dialog', { name: 'Branches' }))
    fireEvent.click(screen.getByRole('button', { name: /^Branch: / }));
  return within(screen.getByRole('list', { name: 'All branches' })).getAllByRole('listitem').length;
}

/** Both presses in one task, as no person can and every machine does. */
async function pressTwice(target: HTMLElement): Promise<void> {
  await act(async () => {
    target.click();
    target.click();
  });
}

/** Waits until nothing is under way, and gives a second turn the time to begin. */
async function settled(): Promise<void> {
  await screen.findByRole('button', { name: 'Send' });
  await act(() => new Promise((resolve) => setTimeout(resolve, 100)));
  await screen.findByRole('button', { name: 'Send' });
}

test.each(['Send', 'Enter'])('%s, twice', async (way) => {
  openApp();
  const box = screen.getByRole('textbox', { name: 'Message' });
  await userEvent.type(box, 'Hello');
  if (way === 'Send') await pressTwice(screen.getByRole('button', { name: 'Send' }));
  else
    act(() => {
      for (let i = 0; i < 2; i += 1)
        box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }));
    });
  await waitFor(() => expect(articles('Assistant')).toHaveLength(1));
  await settled();
  expect([asked, articles('You').length]).toEqual([1, 1]);
});

test('a starter prompt, twice', async () => {
  openApp();
  await pressTwice(await screen.findByRole('button', { name: /like a tree/ }));
  await waitFor(() => expect(articles('Assistant')).toHaveLength(1));
  await settled();
  expect([asked, articles('You').length]).toEqual([1, 1]);
});

test.each(['You', 'Assistant'])('Try again on %s, twice', async (name) => {
  openApp();
  await ask('Hello');
  await pressTwice(on(articles(name)[0], 'Try again'));
  await screen.findByRole('group', { name: /^Version 2/ });
  await settled();
  expect([asked, branches()]).toEqual([2, 2]);
});

test('a double click on Try again is one wish', async () => {
  openApp();
  await ask('Hello');
  const button = on(articles('You')[0], 'Try again');
  fireEvent.click(button, { detail: 1 });
  await act(() => new Promise((resolve) => setTimeout(resolve, 5)));
  fireEvent.click(button, { detail: 2 });
  await settled();
  expect([asked, branches()]).toEqual([2, 2]);
});

test('Try again on an answer that failed, twice', async () => {
  openApp();
  await userEvent.type(screen.getByRole('textbox', { name: 'Message' }), '/fail{Enter}');
  const alert = await screen.findByRole('alert');
  await pressTwice(on(alert.closest('article') as HTMLElement, 'Try again'));
  await settled();
  expect([asked, articles('You').length]).toEqual([2, 1]);
});

test('Continue, twice', async () => {
  openApp();
  await userEvent.type(screen.getByRole('textbox', { name: 'Message' }), '/fail after 5{Enter}');
  await pressTwice(await screen.findByRole('button', { name: 'Continue' }));
  await settled();
  expect([asked, branches()]).toEqual([2, 1]);
});

test.each(['You', 'Assistant'])('Send edit on %s, twice', async (name) => {
  openApp();
  await ask('Hello');
  await userEvent.click(on(articles(name)[0], 'Edit'));
  await userEvent.type(screen.getByRole('textbox', { name: 'Edited text' }), ' you');
  await pressTwice(screen.getByRole('button', { name: 'Send edit' }));
  await screen.findByRole('group', { name: /^Version 2 of 2/ });
  await settled();
  expect([asked, branches()]).toEqual([name === 'You' ? 2 : 1, 2]);
});

test.each(['By the way', 'Branch from here'])('%s, twice', async (name) => {
  openApp();
  await ask('Hello');
  await pressTwice(screen.getAllByRole('button', { name })[0] as HTMLElement);
  await waitFor(() => expect(branches()).toBe(2));
  await settled();
  expect(branches()).toBe(2);
});

test('New chat, twice', async () => {
  openApp();
  await ask('Hello');
  const before = history.length;
  await pressTwice(screen.getByRole('button', { name: 'New chat' }));
  expect(history.length).toBe(before + 1);
});

test('Save in a dialog, twice', async () => {
  openApp();
  await ask('Hello');
  const rename = vi.spyOn(store, 'commit');
  await chatAction('Rename', 'Hello');
  await userEvent.type(screen.getByRole('textbox', { name: 'Name' }), ' again');
  rename.mockClear();
  await pressTwice(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(rename).toHaveBeenCalledTimes(1);

  await userEvent.click(on(articles('Assistant')[0], 'Checkpoint here'));
  rename.mockClear();
  await pressTwice(screen.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  expect(rename).toHaveBeenCalledTimes(1);
});

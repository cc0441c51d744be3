import { act, fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, test, vi } from 'vitest';
import {
  articles,
  ask as askFirst,
  chatAction,
  furnish,
  message,
  on,
  openApp as openAnswering,
  store,
} from './room.tsx';

// Two presses in the same moment are one: a key that bounces, a tap that counts twice, a script in a hurry.

furnish();

let asked = 0;

beforeEach(() => {
  asked = 0;
});

/** Opens the app, and counts what it asks. */
function openApp(): void {
  openAnswering((answers) => ({
    sendMessages: (request) => {
      asked += 1;
      return answers.sendMessages(request);
    },
  }));
}

async function ask(question: string): Promise<void> {
  await askFirst(question);
  await settled();
}

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
  const box = message();
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

/** Presses on an answered question; what each asks, and how many branches it makes. */
const presses: Record<string, readonly [press: () => Promise<void>, asks: number]> = {
  'Try again on You': [() => pressTwice(on(articles('You')[0], 'Try again')), 1],
  'Try again on Assistant': [() => pressTwice(on(articles('Assistant')[0], 'Try again')), 1],
  'Try again, by a double click': [() => doubleClick(on(articles('You')[0], 'Try again')), 1],
  'Send edit on You': [() => edit('You'), 1],
  'Send edit on Assistant': [() => edit('Assistant'), 0],
  'By the way': [() => pressTwice(screen.getByRole('button', { name: 'By the way' })), 0],
  'Branch from here': [() => pressTwice(on(articles('You')[0], 'Branch from here')), 0],
};

async function doubleClick(button: HTMLElement): Promise<void> {
  fireEvent.click(button, { detail: 1 });
  await act(() => new Promise((resolve) => setTimeout(resolve, 5)));
  fireEvent.click(button, { detail: 2 });
}

async function edit(name: 'You' | 'Assistant'): Promise<void> {
  await userEvent.click(on(articles(name)[0], 'Edit'));
  await userEvent.type(screen.getByRole('textbox', { name: 'Edited text' }), ' you');
  await pressTwice(screen.getByRole('button', { name: 'Send edit' }));
}

test('what makes a version or a branch, twice', async () => {
  openApp();
  await ask('Hello');
  for (const [name, [press, asks]] of Object.entries(presses)) {
    const before = [asked, branches()] as const;
    await press();
    await waitFor(() => expect(branches()).toBe(before[1] + 1));
    await settled();
    expect([name, asked, branches()]).toEqual([name, before[0] + asks, before[1] + 1]);
  }
});

test('Try again on an answer that failed, twice', async () => {
  openApp();
  await userEvent.type(message(), '/fail{Enter}');
  const alert = await screen.findByRole('alert');
  await pressTwice(on(alert.closest('article') as HTMLElement, 'Try again'));
  await settled();
  expect([asked, articles('You').length]).toEqual([2, 1]);
});

test('Continue, twice', async () => {
  openApp();
  await userEvent.type(message(), '/fail after 5{Enter}');
  await pressTwice(await screen.findByRole('button', { name: 'Continue' }));
  await settled();
  expect([asked, branches()]).toEqual([2, 1]);
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

import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { articles, ask, furnish, message, on, openApp } from './room.tsx';

// The place of a side question, and what looks like one.

furnish();

const place = (): Promise<HTMLElement> => screen.findByRole('region', { name: /^Side question of/ });
/** The branches that the open popover lists. */
const rows = (): readonly (string | undefined)[] =>
  within(screen.getByRole('list', { name: 'All branches' }))
    .getAllByRole('listitem')
    .map((row) => within(row).getAllByRole('button')[0]?.getAttribute('aria-label') ?? undefined);
const press = async (name: string): Promise<void> =>
  userEvent.click(await screen.findByRole('button', { name }));

test('a branch that is begun where something could have been asked aside is a branch like others', async () => {
  openApp();
  await ask('Tea');
  await press('By the way');
  await place();
  await press('Back');
  await waitFor(() => expect(screen.queryByRole('region', { name: /^Side question of/ })).toBeNull());
  await userEvent.click(on(articles('Assistant')[0], 'Branch from here'));
  await screen.findByText('A new branch begins here');
  await screen.findByRole('button', { name: 'Branch: New branch' });
  expect(screen.queryByRole('region', { name: /^Side question of/ })).toBeNull();
});

test('a side question that is undone by the keyboard is told as left, because its words stay', async () => {
  openApp();
  await ask('Tea');
  await press('By the way');
  await place();
  await ask('How tall?');
  message().blur();
  await userEvent.keyboard('{Control>}z{/Control}');
  await screen.findByText('Left: By the way. The branch is kept');
  await waitFor(() => expect(articles('You')).toHaveLength(1));
});

test('a place in which nothing was asked is no branch any more after Back', async () => {
  openApp();
  await ask('Tea');
  await userEvent.click(on(articles('You')[0], 'Branch from here'));
  await screen.findByText('A new branch begins here');
  await press('By the way');
  await place();
  await press('Back');
  await waitFor(() => expect(screen.queryByRole('region', { name: /^Side question of/ })).toBeNull());
  await userEvent.click(screen.getByRole('button', { name: 'Branch: New branch' }));
  expect(rows()).toEqual(['Tea, 2 messages', 'New branch, 1 message']);
});

test('what is sent while the place of a side question opens is asked there', async () => {
  openApp();
  await ask('Tea');
  await userEvent.type(message(), 'How tall?');
  fireEvent.click(screen.getByRole('button', { name: 'By the way' }));
  fireEvent.keyDown(message(), { key: 'Enter' });
  await place();
  await waitFor(() => expect(articles('You')).toHaveLength(2));
  expect(message().value).toBe('');
  await screen.findByRole('button', { name: 'Send' });
  await press('Back');
  await waitFor(() => expect(articles('You')).toHaveLength(1));
});

test('a question that is answered in the conversation is not called unanswered beside it', async () => {
  openApp((answering) => ({
    sendMessages: async (request) =>
      /slow/.test(JSON.stringify(request.messages.at(-1)))
        ? new ReadableStream<never>()
        : answering.sendMessages(request),
  }));
  await ask('Tea');
  await userEvent.type(message(), 'A slow one{Enter}');
  await screen.findByRole('button', { name: 'Stop' });
  await press('By the way');
  await place();
  await waitFor(() => expect(articles('You')).toHaveLength(2));
  const called = new Set<string>();
  const look = (): void => {
    if (screen.queryByText('Not answered')) called.add('Not answered');
  };
  const watch = new MutationObserver(look);
  watch.observe(document.body, { subtree: true, childList: true, characterData: true });
  look();
  await ask('How tall?');
  await waitFor(() => expect(articles('You')).toHaveLength(3));
  await press('Back');
  await screen.findByRole('button', { name: 'Stop' });
  watch.disconnect();
  expect([...called]).toEqual([]);
});

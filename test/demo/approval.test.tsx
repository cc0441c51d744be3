import { act, cleanup, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { afterReload } from '../ai/story.ts';
import { articles, furnish, message, openApp, renewStore, store } from './room.tsx';

furnish();

const button = (name: string): HTMLElement => screen.getByRole('button', { name });

const saved = (): Promise<unknown> => act(() => new Promise((resolve) => setTimeout(resolve, 200)));

/** An answer asks for leave, a question is queued behind it, and the page is opened again. */
async function reloadedBehindApproval(): Promise<void> {
  const model = Promise.withResolvers<void>();
  openApp((answering) => ({
    sendMessages: async (request) => {
      await model.promise;
      return answering.sendMessages(request);
    },
  }));
  await userEvent.type(message(), '/approve{Enter}');
  await screen.findByRole('button', { name: 'Stop' });
  await userEvent.type(message(), 'And then?{Enter}');
  await screen.findByText('Waiting');
  model.resolve();
  await screen.findByRole('button', { name: 'Approve' });
  await saved();
  cleanup();
  renewStore(afterReload(store));
  openApp();
  await screen.findByText('And then?');
}

test('a question that was left behind an approval is taken back, and the approval still answers', async () => {
  await reloadedBehindApproval();
  expect(await screen.findByText('Not asked yet')).toBeDefined();
  await userEvent.click(button('Take back'));
  expect(message().value).toBe('And then?');
  await userEvent.click(button('Approve'));
  await waitFor(() => expect(articles('Assistant')[0]?.textContent).toContain('is done'));
});

test('a question that was left behind an approval is asked at once', async () => {
  await reloadedBehindApproval();
  await userEvent.click(await screen.findByRole('button', { name: 'Ask now' }));
  await waitFor(() => expect(articles('Assistant')[1]?.textContent).toContain('And then?'));
  expect(articles('You')).toHaveLength(2);
  expect(screen.queryByText('Not asked yet')).toBeNull();
});

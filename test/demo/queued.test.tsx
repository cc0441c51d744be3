import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { furnish, message, openApp, store } from './room.tsx';

// A question that waits behind a growing answer, and a page that may be reloaded at any moment.

furnish();

const inTab = (): string => JSON.stringify([sessionStorage]);

test('a question that waits is kept by the tab until the disk has it', async () => {
  openApp(() => ({ sendMessages: async () => new ReadableStream<never>() }));
  await userEvent.type(message(), 'Tea?{Enter}');
  await screen.findByRole('button', { name: 'Stop' });
  await waitFor(() => expect(inTab()).not.toContain('Tea?'));
  const commit = store.commit.bind(store);
  let write = (): void => {};
  store.commit = async (...args) => {
    const [, { marks }] = args;
    if (marks.some(({ id }) => id.startsWith('waiting ')))
      await new Promise<void>((resolve) => (write = resolve));
    return commit(...args);
  };
  await userEvent.type(message(), 'Cups?{Enter}');
  await screen.findByText('Waiting');
  expect(inTab()).toContain('Cups?');
  await waitFor(() => {
    write();
    expect(inTab()).not.toContain('Cups?');
  });
});

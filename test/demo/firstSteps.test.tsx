import { render, screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, test } from 'vitest';
import { createAnswers } from '../../stories/demo/answers.ts';
import { App } from '../../stories/demo/App.tsx';
import { firstChat } from '../../stories/demo/firstChat.ts';
import { FIRST_CHAT } from '../../stories/demo/firstKeys.ts';
import { createSettings } from '../../stories/demo/settings/settings.ts';
import { furnish, on, articles, store } from './room.tsx';

furnish();

/** Opens the app on its first chat, and finds the first steps. */
async function openFirst(): Promise<HTMLElement> {
  const settings = createSettings();
  const first = { id: FIRST_CHAT, records: async () => firstChat(Date.now()) };
  const transport = createAnswers(settings, { speed: 0 });
  render(<App store={store} settings={settings} transport={transport} firstChat={first} />);
  return screen.findByRole('region', { name: 'First steps' });
}

const press = async (name: string): Promise<void> =>
  userEvent.click(await screen.findByRole('button', { name }));

test('a step whose thing was deleted is passed over', async () => {
  const steps = await openFirst();
  await within(steps).findByText(/^Three answers/);
  await press('Checkpoints');
  await press('Delete checkpoint Name and slogan');
  await press('Branch: Make a sign with prices.');
  await press('Delete branch: How many cups does a kilo of beans make?');
  await userEvent.click(on(articles('Assistant')[0], 'Next version'));
  await within(steps).findByText(/^A branch of its own/);
  expect(within(steps).queryByText(/flag|side question/)).toBeNull();
  await within(steps).findByRole('button', { name: 'Start your own' });
});

test('a step that was done by hand before it came up is not asked for again', async () => {
  const steps = await openFirst();
  await press('Checkpoint Name and slogan');
  await press('Restore Name and slogan');
  await within(steps).findByText(/^Back at the flag/);
  await within(steps).findByText(/^Three answers/);
  await userEvent.click(within(steps).getByRole('button', { name: 'Show me' }));
  await within(steps).findByText(/^A branch of its own/);
  expect(await within(steps).findByText(/^A side question/)).toBeDefined();
});

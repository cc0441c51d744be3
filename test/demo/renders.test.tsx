import { act, cleanup, render, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { InMemoryContextStore } from 'contextree';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { App } from '../../stories/demo/App.tsx';
import type * as Original from '../../stories/demo/conversation/Parts.tsx';
import { createSettings } from '../../stories/demo/settings/settings.ts';
import { fetchLate } from '../../stories/demo/ui/late.tsx';
import { scriptedTransport } from '../support/transport.ts';

/** How often the body of each message was rendered, by the id of the message. */
const rendered = new Map<string, number>();

vi.mock('../../stories/demo/conversation/Parts.tsx', async (importOriginal) => {
  const original = await importOriginal<typeof Original>();
  return {
    ...original,
    Parts: (props: Parameters<typeof original.Parts>[0]) => {
      const { id } = props.message;
      rendered.set(id, (rendered.get(id) ?? 0) + 1);
      return original.Parts(props);
    },
  };
});

// What comes with the first press is there.
beforeAll(fetchLate);

afterEach(cleanup);

test('words that stream in render the message that they belong to, and no other', async () => {
  const script = scriptedTransport();
  render(<App store={new InMemoryContextStore()} settings={createSettings()} transport={script.transport} />);
  const message = screen.getByRole('textbox', { name: 'Message' });
  await userEvent.type(message, 'First{Enter}');
  const first = await script.next();
  await act(() => first.say('Whole'));
  await act(() => first.finish());
  await screen.findByRole('button', { name: 'Send' });
  await waitFor(() => expect(screen.queryByText('Saving')).toBeNull());

  await userEvent.type(message, 'Second, and a long one{Enter}');
  const second = await script.next();
  await act(() => second.say('Word 0.'));
  await waitFor(() => expect(screen.getAllByRole('article')).toHaveLength(4));
  await screen.findByText('Word 0.');
  const before = new Map(rendered);
  const [question, answer, , growing] = screen
    .getAllByRole('article')
    .map((one) => one.dataset['message'] ?? '');
  let said = 'Word 0.';
  for (let i = 1; i <= 5; i += 1) {
    await act(() => second.say(` Word ${i}.`));
    said += ` Word ${i}.`;
    await screen.findByText(said);
  }
  await act(() => second.finish());
  await screen.findByRole('button', { name: 'Send' });

  expect(rendered.get(growing ?? '')).toBeGreaterThanOrEqual((before.get(growing ?? '') ?? 0) + 5);
  expect(rendered.get(question ?? '')).toBe(before.get(question ?? ''));
  expect(rendered.get(answer ?? '')).toBe(before.get(answer ?? ''));
});

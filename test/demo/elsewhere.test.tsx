import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { UIMessageChunk } from 'ai';
import { expect, test } from 'vitest';
import { articles, ask, furnish, message, on, openApp, store } from './room.tsx';

// What another tab does to the chat that is shown here.

furnish();

const chatId = (): string => location.hash.slice('#/chat/'.length);

/** Opens the app over a model that says one word of each answer to "slow". */
function openSlow(): void {
  openApp((answering) => ({
    sendMessages: async (request) => {
      const isSlow = JSON.stringify(request.messages.at(-1)?.parts).includes('slow');
      if (!isSlow) return answering.sendMessages(request);
      return new ReadableStream<UIMessageChunk>({
        start: (controller) => {
          request.abortSignal?.addEventListener('abort', () => controller.error(new Error('stopped')));
          for (const chunk of [
            { type: 'start' },
            { type: 'text-start', id: 't' },
            { type: 'text-delta', id: 't', delta: 'Well' },
          ] as const)
            controller.enqueue(chunk);
        },
      });
    },
  }));
}

test('a deleted chat gives what waited in it to the new one: edits, queued questions, the text in the box', async () => {
  openSlow();
  await ask('Hello');
  await userEvent.click(on(articles('You')[0], 'Edit'));
  await userEvent.type(screen.getByRole('textbox', { name: 'Edited text' }), ' and a thought');
  await userEvent.type(message(), 'slow{Enter}');
  await waitFor(() => expect(articles('Assistant').at(-1)?.textContent).toContain('Well'));
  await userEvent.type(message(), 'And this?{Enter}');
  await screen.findByText('Waiting');
  await userEvent.type(message(), 'half a word');
  await act(() => new Promise((resolve) => setTimeout(resolve, 50)));
  await act(() => store.deleteChat(chatId()));
  await userEvent.click(await screen.findByRole('button', { name: 'Continue in a new chat' }));
  await waitFor(() => expect(screen.queryByRole('article')).toBeNull());
  expect(message().value).toBe('Hello and a thought\n\nAnd this?\n\nhalf a word');
});

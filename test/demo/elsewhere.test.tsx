import { act, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { UIMessageChunk } from 'ai';
import { ContextEngine } from 'contextree';
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

/** Opens a chat whose only question was edited from "Tea" to "Tea or coffee?". */
async function openEdited(): Promise<void> {
  openApp();
  await ask('Tea');
  await userEvent.click(on(articles('You')[0], 'Edit'));
  await userEvent.type(screen.getByRole('textbox', { name: 'Edited text' }), ' or coffee?{Enter}');
  await waitFor(() => expect(articles('You')[0]?.textContent).toContain('coffee'));
  await screen.findByRole('button', { name: 'Send' });
}

test('a branch that another tab deletes is told of, and can be brought back', async () => {
  await openEdited();
  const other = new ContextEngine({ store, chatId: chatId(), userId: 'local' });
  await other.ready();
  await act(() => other.deleteBranch(other.branch));
  await screen.findByText('“Tea or coffee?” was deleted in another tab');
  await waitFor(() => expect(articles('You')[0]?.textContent).not.toContain('coffee'));
  await userEvent.click(screen.getByRole('button', { name: 'Bring back' }));
  await waitFor(() => expect(articles('You')[0]?.textContent).toContain('coffee'));
  other.dispose();
});

test('a branch that this tab deletes has one notice, also after its Undo and another Redo', async () => {
  await openEdited();
  await userEvent.click(screen.getByRole('button', { name: /^Branch: / }));
  await userEvent.click(await screen.findByRole('button', { name: 'Delete branch: Tea or coffee?' }));
  for (const name of ['Undo', 'Redo', 'Undo']) {
    await userEvent.click(await screen.findByRole('button', { name }));
    expect(screen.queryByText(/in another tab|is back/)).toBeNull();
  }
  await waitFor(() => expect(articles('You')[0]?.textContent).toContain('coffee'));
});

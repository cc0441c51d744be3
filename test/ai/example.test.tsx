import { useChat } from '@ai-sdk/react';
import { act, cleanup, render, screen } from '@testing-library/react';
import type { ChatTransport, UIMessage } from 'ai';
import { ContextEngineProvider, hint, role, useFragments, useMessageBranch } from 'contextree';
import { useContextChat } from 'contextree/ai';
import type { ReactNode } from 'react';
import { afterEach, expect, it } from 'vitest';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { scriptedTransport } from '../support/transport.ts';

afterEach(cleanup);

/** The example of the README, with the store and the transport that a test can look into. */
function ChatPage({ transport }: { readonly transport: ChatTransport<UIMessage> }): ReactNode {
  return (
    <ContextEngineProvider chatId="demo" userId="me" store={store}>
      <Chat transport={transport} />
    </ContextEngineProvider>
  );
}

function Chat({ transport }: { readonly transport: ChatTransport<UIMessage> }): ReactNode {
  useFragments(role('You are a concise tutor.'), hint('Answer in plain words.'));
  const { messages, sendMessage, regenerate } = useChat(useContextChat({ transport }));
  return (
    <>
      {messages.map((message) => (
        <article key={message.id}>
          {message.parts.map((part, i) => part.type === 'text' && <p key={i}>{part.text}</p>)}
          <Versions id={message.id} />
          <button onClick={() => void regenerate({ messageId: message.id })}>Try again</button>
        </article>
      ))}
      <button onClick={() => void sendMessage({ text: 'Why?' })}>Send</button>
    </>
  );
}

function Versions({ id }: { readonly id: string }): ReactNode {
  const { branchNumber, count, goToPrevious, goToNext } = useMessageBranch(id);
  return (
    count > 1 && (
      <>
        <button onClick={goToPrevious}>‹</button> {branchNumber} / {count}{' '}
        <button onClick={goToNext}>›</button>
      </>
    )
  );
}

const store = new InMemoryContextStore();

it('is the whole integration', async () => {
  const script = scriptedTransport();
  render(<ChatPage transport={script.transport} />);
  const press = async (name: string): Promise<void> => {
    await act(async () => screen.getAllByText(name).at(-1)!.click());
  };
  const say = async (text: string): Promise<void> => {
    await act(async () => (await script.next()).answer(text));
  };
  await press('Send');
  await say('Because.');
  await press('Try again');
  await say('Why not?');
  expect(screen.getAllByRole('article').at(-1)!.textContent).toBe('Why not?‹ 2 / 2 ›Try again');
  await press('‹');
  // The code that goes to another branch comes with the first press.
  await expect
    .poll(() => screen.getAllByRole('article').at(-1)!.textContent)
    .toBe('Because.‹ 1 / 2 ›Try again');
  const { system } = script.requests[1]!.sent.body as { system: string };
  expect(system).toContain('You are a concise tutor.');
  expect(system).toContain('Answer in plain words.');
});

import { useChat } from '@ai-sdk/react';
import { cleanup, render, waitFor } from '@testing-library/react';
import type { UIMessage } from 'ai';
import { ContextEngine, ContextEngineProvider, IndexedDBContextStore, useMessageBranch } from 'contextree';
import { useContextChat } from 'contextree/ai';
import { memo } from 'react';
import { afterEach, expect, test } from 'vitest';
import { writeLine } from '../bench/line.ts';
import { scriptedTransport } from '../support/transport.ts';

afterEach(cleanup);

const LENGTH = 800;
const WORDS = 100;

/** A chat of many messages in a real database. */
async function longChat(): Promise<ContextEngine> {
  const store = new IndexedDBContextStore(`rendering-${crypto.randomUUID()}`);
  const messages = Array.from({ length: LENGTH }, (_, i): UIMessage => {
    const role = i % 2 === 0 ? 'user' : 'assistant';
    return { id: `m${i}`, role, parts: [{ type: 'text', text: `message ${i}` }] };
  });
  await writeLine(store, messages);
  return new ContextEngine({ store, chatId: 'c', userId: 'u' });
}

test(
  `words that stream into a chat of ${LENGTH} messages render no other message`,
  { timeout: 180_000 },
  async () => {
    const engine = await longChat();
    await engine.loadMore(LENGTH);
    const server = scriptedTransport();
    const renders = new Map<string, number>();

    const Message = memo(function Message({ message }: { readonly message: UIMessage }) {
      const { count } = useMessageBranch(message.id);
      renders.set(message.id, (renders.get(message.id) ?? 0) + 1);
      return (
        <li data-versions={count}>
          {message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')}
        </li>
      );
    });
    function Chat() {
      const { messages, sendMessage } = useChat(useContextChat({ transport: server.transport }));
      return (
        <ul>
          <button onClick={() => void sendMessage({ text: 'one more question' })}>Send</button>
          {messages.map((message) => (
            <Message key={message.id} message={message} />
          ))}
        </ul>
      );
    }
    const { container, getByText } = render(
      <ContextEngineProvider engine={engine}>
        <Chat />
      </ContextEngineProvider>,
    );
    const shown = (): number => container.querySelectorAll('li').length;
    await waitFor(() => expect(shown()).toBe(LENGTH), { timeout: 20_000 });

    getByText('Send', { selector: 'button' }).click();
    const answer = await server.next();
    await answer.say('first');
    await waitFor(() => expect(shown()).toBe(LENGTH + 2));
    const before = new Map(renders);
    for (let i = 0; i < WORDS; i += 1) await answer.say(` word ${i}`);
    await waitFor(() => expect(container.textContent).toContain(`word ${WORDS - 1}`));
    const streamed = engine.headMessageId as string;
    const again = [...renders].filter(([id, count]) => id !== streamed && count !== before.get(id));
    expect(again).toEqual([]);
    expect(renders.get(streamed)).toBeGreaterThan(before.get(streamed) as number);

    await answer.finish();
    await waitFor(() => expect(engine.status(streamed)).toBe('complete'));
    const afterwards = [...renders].filter(([id, count]) => id !== streamed && count !== before.get(id));
    expect(afterwards).toEqual([]);
  },
);

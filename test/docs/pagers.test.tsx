import { useChat, type UseChatHelpers } from '@ai-sdk/react';
import { act, cleanup, renderHook, waitFor } from '@testing-library/react';
import type { UIMessage } from 'ai';
import { ContextEngine, ContextEngineProvider, InMemoryContextStore } from 'contextree';
import { useContextChat } from 'contextree/ai';
import { createLocalTransport } from 'contextree/ai/local';
import type { ReactNode } from 'react';
import { afterEach, expect, test } from 'vitest';
import { createDemoModel } from '../../stories/demo/model.ts';

afterEach(cleanup);

// What the page on pagers says of assistant-ui's runtime: its buttons cut the list and then ask, and nothing is lost.

const transport = createLocalTransport({ model: createDemoModel({ speed: 0 }) });
interface Talk {
  readonly engine: ContextEngine;
  readonly chat: () => UseChatHelpers<UIMessage>;
  /** Waits until so many messages are shown, and saved. */
  readonly settled: (count: number) => Promise<void>;
}

async function talk(): Promise<Talk> {
  const engine = new ContextEngine({ store: new InMemoryContextStore(), chatId: 'c', userId: 'u' });
  const wrapper = ({ children }: { readonly children: ReactNode }): ReactNode => (
    <ContextEngineProvider engine={engine}>{children}</ContextEngineProvider>
  );
  const { result } = renderHook(() => useChat(useContextChat({ transport })), { wrapper });
  const chat = (): UseChatHelpers<UIMessage> => result.current;
  const settled = (count: number): Promise<void> =>
    waitFor(() => {
      expect([chat().status, chat().messages.length]).toEqual(['ready', count]);
      expect(engine.state.getState().saveState.pending).toBe(0);
    });
  await act(() => chat().sendMessage({ text: 'One?' }));
  await settled(2);
  await act(() => chat().sendMessage({ text: 'Two?' }));
  await settled(4);
  return { engine, chat, settled };
}

test('a list cut after a question, and an answer asked for: a version beside the old answer', async () => {
  const { engine, chat, settled } = await talk();
  const [, first] = chat().messages;
  act(() => chat().setMessages(chat().messages.slice(0, 1)));
  await act(() => chat().regenerate());
  await settled(2);
  expect(engine.siblings(first?.id ?? '').ids).toEqual([first?.id, chat().messages[1]?.id]);
});

test('a list cut before a question, and other words sent: a version beside the old question', async () => {
  const { engine, chat, settled } = await talk();
  const second = chat().messages[2];
  act(() => chat().setMessages(chat().messages.slice(0, 2)));
  await act(() => chat().sendMessage({ text: 'Three?' }));
  await settled(4);
  expect(engine.siblings(second?.id ?? '').ids).toEqual([second?.id, chat().messages[2]?.id]);
});

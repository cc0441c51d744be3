import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  DirectChatTransport,
  ToolLoopAgent,
  type ChatInit,
  type ChatTransport,
  type UIMessage,
} from 'ai';
import { useContextChat, withContext } from 'contextree/ai';
import { createLocalTransport } from 'contextree/ai/local';
import { describe, expect, expectTypeOf, it } from 'vitest';

describe('the types', () => {
  it('of metadata, data and tools are those of the messages, as with plain useChat', () => {
    type Tools = { readonly dice: { readonly input: { readonly sides: number }; readonly output: number } };
    type Own = UIMessage<{ readonly mood: string }, { readonly weather: { readonly sky: string } }, Tools>;
    const Page = (init: ChatInit<Own>): void => {
      const chat = useChat(
        useContextChat<Own>({
          onData: ({ data }) => expectTypeOf(data.sky).toEqualTypeOf<string>(),
          onToolCall: ({ toolCall }) => {
            if (!toolCall.dynamic) expectTypeOf(toolCall.input.sides).toEqualTypeOf<number>();
          },
        }),
      );
      expectTypeOf(chat).toEqualTypeOf(useChat<Own>(init));
      expectTypeOf(useChat({ ...useContextChat(init), resume: true })).toEqualTypeOf(chat);
      // @ts-expect-error: useChat resumes, and the error says so
      useContextChat({ ...init, resume: true });
      void chat.addToolOutput({ tool: 'dice', toolCallId: '1', output: 6 });
      // @ts-expect-error: dice give numbers
      void chat.addToolOutput({ tool: 'dice', toolCallId: '1', output: 'six' });
      // @ts-expect-error: a mood is a text
      void chat.sendMessage({ text: 'One?', metadata: { mood: 1 } });
    };
    expect(Page).toBeTypeOf('function');
  });

  it('of messages come from the transport', () => {
    type Own = UIMessage<{ readonly mood: string }>;
    const own = new DefaultChatTransport<Own>();
    const agent = new ToolLoopAgent({ model: 'none/at-all' });
    const Page = (): void => {
      expectTypeOf(useChat(useContextChat({ transport: own })).messages).toEqualTypeOf<Own[]>();
      expectTypeOf(useChat(useContextChat({ transport: new DefaultChatTransport() })).messages).toEqualTypeOf<
        UIMessage[]
      >();
      const direct = useChat(useContextChat({ transport: new DirectChatTransport({ agent }) }));
      expectTypeOf(direct.messages).toEqualTypeOf<UIMessage<unknown, never, {}>[]>();
      const local = useChat(useContextChat({ transport: createLocalTransport({ model: 'none/at-all' }) }));
      expectTypeOf(local.messages).toEqualTypeOf<UIMessage[]>();
      useChat({ ...useContextChat({ transport: own }), throttle: 50 });
      useContextChat({
        transport: own,
        onFinish: ({ message }) => expectTypeOf(message).toEqualTypeOf<Own>(),
        request: ({ messages }) => ({ messages: messages.slice(-3) }),
      });
    };
    expect(Page).toBeTypeOf('function');
    expectTypeOf(withContext<Own>).returns.toExtend<ChatTransport<Own>>();
  });
});

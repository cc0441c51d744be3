import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  DirectChatTransport,
  ToolLoopAgent,
  type ChatTransport,
  type UIMessage,
} from 'ai';
import { useContextChat, withContext } from 'contextree/ai';
import { createLocalTransport } from 'contextree/ai/local';
import { describe, expect, expectTypeOf, it } from 'vitest';

describe('the types', () => {
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

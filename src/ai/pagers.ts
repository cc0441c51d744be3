import type { Chat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import type { MessageContent } from '../engine/options.ts';
import { sameJson } from '../engine/same.ts';
import { keepList } from './begin.ts';
import { keyOf, withId } from './list.ts';
import type { ChatHost, OurChat } from './ourChat.ts';

/** What a pager asks of chats, whichever of them shows its message. */
interface Asked<M extends UIMessage> extends ChatHost<M> {
  /** The chat that is shown. */
  readonly active: OurChat<M>;
  /** What pagers asked for, and whose answer is not here yet. */
  readonly presses: Set<Press>;
}

/** What a pager asked for: new words for a message, or where there are none, another answer, with these options. */
export interface Press {
  readonly messageId: string;
  readonly content?: MessageContent;
  readonly options?: object | undefined;
  /** The chat that it was asked of, as soon as that is known. */
  chat?: object | undefined;
  answered?: Promise<void>;
}

/** New words for a question are sent; new words for an answer make a version, and no model is asked. */
export async function edit<M extends UIMessage>(
  asked: Asked<M>,
  messageId: string,
  content: MessageContent,
): Promise<void> {
  const { engine, active } = asked;
  await engine.ready();
  await keepList(active);
  // One that waits is no node yet.
  const role = engine.node(messageId)?.name ?? withId(active.messages, messageId)?.role;
  if (role !== 'user') return void (await engine.edit(messageId, content));
  await once(asked, { messageId, content }, (chat, id) => {
    const words = newWords(withId(chat.messages, id), content);
    return chat.sendMessage({ messageId: id, ...words } as Parameters<Chat<M>['sendMessage']>[0]);
  });
}

/** Another answer. */
export async function regenerate<M extends UIMessage>(
  asked: Asked<M>,
  messageId: string,
  options: object | undefined,
): Promise<void> {
  await asked.engine.ready();
  await once(asked, { messageId, options }, (chat, id) => chat.regenerate({ ...options, messageId: id }));
}

/**
 * Asks the chat that shows a message. Of two presses of a button the second one is the first: it must not go and look for
 * the message that the first one has put another one in place of. A click after a return to that message asks again.
 */
function once<M extends UIMessage>(
  asked: Asked<M>,
  press: Press,
  ask: (chat: OurChat<M>, id: string) => Promise<void>,
): Promise<void> {
  const { engine, presses } = asked;
  const { messageId, content, options } = press;
  const id = engine.node(messageId)?.id ?? messageId;
  const shown = asked
    .all()
    .find(
      ({ messages, branchId }) =>
        withId(messages, id) && (id === messageId || keyOf(engine, id, branchId) === messageId),
    );
  // Another try for a question that is being answered stops that, and begins anew.
  const isAnswering =
    !content && shown?.status === 'streaming' && withId(shown.messages, messageId)?.role === 'user';
  const same = [...presses].find(
    (one) =>
      one.messageId === messageId &&
      sameJson([one.content, one.options], [content, options]) &&
      (!shown || (shown === one.chat && !isAnswering)),
  );
  if (same?.answered) return same.answered;
  const run = async (): Promise<void> => {
    const chat = shown ?? (await shownBy(asked, messageId));
    press.chat = chat;
    await ask(chat, id);
  };
  press.chat = shown;
  presses.add(press);
  return (press.answered = run().finally(() => presses.delete(press)));
}

/** The active chat, when it shows a message: on the branch used last that holds it, and as far back as it stands. */
async function shownBy<M extends UIMessage>(asked: Asked<M>, messageId: string): Promise<OurChat<M>> {
  const { engine } = asked;
  await engine.selectSibling(messageId);
  const depthOf = (id = ''): number => engine.node(id)?.depth ?? 0;
  const missing = depthOf(asked.active.messages[0]?.id) - depthOf(messageId);
  if (missing > 0) await engine.loadMore(missing);
  return asked.active;
}

/** The text of a message replaced; its files and metadata stay. */
export function newWords(
  message: UIMessage | undefined,
  content: MessageContent,
): Pick<UIMessage, 'parts' | 'metadata'> {
  if (typeof content !== 'string') return content;
  const others = message?.parts.filter(({ type }) => type !== 'text') ?? [];
  return { parts: [...others, { type: 'text', text: content }], metadata: message?.metadata };
}

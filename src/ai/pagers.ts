import type { Chat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import type { MessageContent } from '../engine/options.ts';
import { keepList } from './begin.ts';
import { keyOf, withId } from './list.ts';
import type { ChatHost, OurChat } from './ourChat.ts';

/** What a pager needs of the chats. */
interface Asked<M extends UIMessage> extends ChatHost<M> {
  /** The chat of the active branch. */
  readonly active: OurChat<M>;
  /** Presses on pagers that have no answer yet, by what they ask for. */
  readonly presses: Map<string, Press>;
}

/** A press on a pager. */
export interface Press {
  /** The chat that handles it, as soon as it is known. */
  chat: Pick<OurChat<UIMessage>, 'branchId'> | undefined;
  answered?: Promise<void>;
}

/** Edits a message: new text of a question is sent; new text of an answer becomes a version, and no model is called. */
export async function edit<M extends UIMessage>(
  asked: Asked<M>,
  messageId: string,
  content: MessageContent,
): Promise<void> {
  const { engine, active } = asked;
  await engine.ready();
  await keepList(active);
  // A queued question has no node yet.
  const role = engine.node(messageId)?.name ?? withId(active.messages, messageId)?.role;
  if (role !== 'user') return void (await engine.edit(messageId, content));
  await once(asked, messageId, { content }, (chat, id) => {
    const words = newWords(withId(chat.messages, id), content);
    return chat.sendMessage({ messageId: id, ...words } as Parameters<Chat<M>['sendMessage']>[0]);
  });
}

/** Asks for another answer. */
export async function regenerate<M extends UIMessage>(
  asked: Asked<M>,
  messageId: string,
  options: object | undefined,
): Promise<void> {
  await asked.engine.ready();
  await once(asked, messageId, { options }, (chat, id) => chat.regenerate({ ...options, messageId: id }));
}

/**
 * Runs a press in the chat that shows its message. On a double click the second press gets the promise of the first: it must
 * not search for the message that the first one has just replaced. A press after a return to that message runs again.
 */
function once<M extends UIMessage>(
  asked: Asked<M>,
  messageId: string,
  what: { readonly content?: MessageContent; readonly options?: object | undefined },
  ask: (chat: OurChat<M>, id: string) => Promise<void>,
): Promise<void> {
  const { engine, presses } = asked;
  const id = engine.node(messageId)?.id ?? messageId;
  const shown = asked
    .all()
    .find(
      ({ messages, branchId }) =>
        withId(messages, id) && (id === messageId || keyOf(engine, id, branchId) === messageId),
    );
  // Another try for a question that is being answered stops that answer and begins anew.
  const isAnswering =
    !what.content && shown?.status === 'streaming' && withId(shown.messages, messageId)?.role === 'user';
  const name = JSON.stringify([messageId, what]);
  const same = presses.get(name);
  if (same?.answered && (!shown || (shown.branchId === same.chat?.branchId && !isAnswering)))
    return same.answered;
  const press: Press = { chat: shown };
  presses.set(name, press);
  const run = async (): Promise<void> => {
    const chat = shown ?? (await shownBy(asked, messageId));
    press.chat = chat;
    await ask(chat, id);
  };
  press.answered = run().finally(() => presses.get(name) === press && presses.delete(name));
  return press.answered;
}

/**
 * The active chat, showing a message: checks out the most recently used branch that holds the message, and loads the messages
 * before it.
 */
async function shownBy<M extends UIMessage>(asked: Asked<M>, messageId: string): Promise<OurChat<M>> {
  const { engine } = asked;
  await engine.selectSibling(messageId);
  const depthOf = (id = ''): number => engine.node(id)?.depth ?? 0;
  const missing = depthOf(asked.active.messages[0]?.id) - depthOf(messageId);
  if (missing > 0) await engine.loadMore(missing);
  return asked.active;
}

/** A message with its text replaced; files and metadata stay. */
export function newWords(
  message: UIMessage | undefined,
  content: MessageContent,
): Pick<UIMessage, 'parts' | 'metadata'> {
  if (typeof content !== 'string') return content;
  const others = message?.parts.filter(({ type }) => type !== 'text') ?? [];
  return { parts: [...others, { type: 'text', text: content }], metadata: message?.metadata };
}

import type { UIMessage } from 'ai';
import type { ContextEngine, MessageContent } from '../engine/engine.ts';
import { sameJson } from '../engine/sameJson.ts';
import type { ContextChat } from './contextChat.ts';
import type { ContextChats } from './contextChats.ts';
import { withId } from './list.ts';

/** What a pager asks of chats, whichever of them shows its message. */
interface Asked<M extends UIMessage> extends Pick<ContextChats<M>, 'engine' | 'active'> {
  /** All chats, the one that is shown first. */
  all(): readonly ContextChat<M>[];
}

/** What a pager asked for, and whose answer is not here yet. */
interface Press {
  readonly messageId: string;
  /** New words for it; undefined where it is to be answered again. */
  readonly content: MessageContent | undefined;
  /** What its request is made with. */
  readonly options?: object | undefined;
  /** The chat that it was asked of, as soon as that is known. */
  chat: object | undefined;
  readonly answered: Promise<void>;
}

/** New words for a question are sent; new words for an answer make a version, and no model is asked. */
export async function edit<M extends UIMessage>(
  chats: Asked<M>,
  messageId: string,
  content: MessageContent,
): Promise<void> {
  const { engine } = chats;
  await engine.ready();
  await chats.active.keepList();
  // One that waits is no node yet.
  const role = engine.node(messageId)?.name ?? withId(chats.active.messages, messageId)?.role;
  if (role !== 'user') {
    await engine.edit(messageId, content);
    return;
  }
  await once(chats, { messageId, content }, (chat) => {
    const words = newWords(withId(chat.messages, messageId), content);
    return chat.sendMessage({ messageId, ...words } as Parameters<ContextChat<M>['sendMessage']>[0]);
  });
}

/** Another answer. */
export async function regenerate<M extends UIMessage>(
  chats: Asked<M>,
  messageId: string,
  options: object | undefined,
): Promise<void> {
  await chats.engine.ready();
  await once(chats, { messageId, content: undefined, options }, (chat) =>
    chat.regenerate({ ...options, messageId }),
  );
}

/**
 * Asks the chat that shows a message. Of two presses of a button the second one is the first: it must not go and look for
 * the message that the first one has put another one in place of. Who comes back to that message may ask again.
 */
function once<M extends UIMessage>(
  chats: Asked<M>,
  asked: Pick<Press, 'messageId' | 'content' | 'options'>,
  ask: (chat: ContextChat<M>) => Promise<void>,
): Promise<void> {
  const { messageId, content, options } = asked;
  const presses = pressed.get(chats.engine) ?? new Set();
  pressed.set(chats.engine, presses);
  const shown = showing(chats, messageId);
  const same = [...presses].find(
    (press) =>
      press.messageId === messageId &&
      sameJson(press.content, content) &&
      sameJson(press.options, options) &&
      (!shown || (shown === press.chat && !isAnswering(shown, press))),
  );
  if (same) return same.answered;
  const run = async (): Promise<void> => {
    const chat = shown ?? (await shownBy(chats, messageId));
    press.chat = chat;
    await ask(chat);
  };
  const answered = Promise.resolve()
    .then(run)
    .finally(() => presses.delete(press));
  const press: Press = { ...asked, chat: shown, answered };
  presses.add(press);
  return answered;
}

const pressed: WeakMap<ContextEngine, Set<Press>> = new WeakMap();

/** Whether a question is being answered again: another try stops that, and begins anew. */
function isAnswering<M extends UIMessage>(chat: ContextChat<M>, { messageId, content }: Press): boolean {
  const isQuestion = withId(chat.messages, messageId)?.role === 'user';
  return isQuestion && content === undefined && chat.status === 'streaming';
}

/** The chat that shows a message. */
function showing<M extends UIMessage>(chats: Asked<M>, messageId: string): ContextChat<M> | undefined {
  return chats.all().find(({ messages }) => withId(messages, messageId));
}

/** The active chat, when it shows a message: on the branch used last that holds it, and as far back as it stands. */
async function shownBy<M extends UIMessage>(chats: Asked<M>, messageId: string): Promise<ContextChat<M>> {
  const { engine } = chats;
  await engine.selectSibling(messageId);
  const depthOf = (id = ''): number => engine.node(id)?.depth ?? 0;
  const missing = depthOf(chats.active.messages[0]?.id) - depthOf(messageId);
  if (missing > 0) await engine.loadMore(missing);
  return chats.active;
}

/** The text of a message replaced; its files and metadata stay. */
function newWords(
  message: UIMessage | undefined,
  content: MessageContent,
): Pick<UIMessage, 'parts' | 'metadata'> {
  if (typeof content !== 'string') return content;
  const others = message?.parts.filter(({ type }) => type !== 'text') ?? [];
  return { parts: [...others, { type: 'text', text: content }], metadata: message?.metadata };
}

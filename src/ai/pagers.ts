import type { UIMessage } from 'ai';
import type { MessageContent } from '../engine/engine.ts';
import type { ContextChat } from './contextChat.ts';
import type { ContextChats } from './contextChats.ts';
import { withId } from './list.ts';

/** What a pager asks of chats, whichever of them shows its message. */
interface Asked<M extends UIMessage> extends Pick<ContextChats<M>, 'engine' | 'active'> {
  /** All chats, the one that is shown first. */
  all(): readonly ContextChat<M>[];
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
  const chat = await holding(chats, messageId);
  const words = newWords(withId(chat.messages, messageId), content);
  await chat.sendMessage({ messageId, ...words } as Parameters<ContextChat<M>['sendMessage']>[0]);
}

/** The chat that shows a message: the active one, another one, or the one of the branch used last that holds it. */
export async function holding<M extends UIMessage>(
  chats: Asked<M>,
  messageId: string,
): Promise<ContextChat<M>> {
  await chats.engine.ready();
  const known = chats.all().find(({ messages }) => withId(messages, messageId));
  if (!known) await chats.engine.selectSibling(messageId);
  return known ?? chats.active;
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

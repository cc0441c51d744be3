import type { Chat } from '@ai-sdk/react';
import { readUIMessageStream, type ChatRequestOptions, type UIMessage } from 'ai';
import type { MessageContent, RunOptions } from '../engine/options.ts';
import { busy, ContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import { beginTurn, send } from './request.ts';
import { sameJson } from '../graph/same.ts';
import { keyOf, withId } from './list.ts';
import type { BranchChat } from './branchChat.ts';
import { type ChatHost, isAsking, type Said } from './host.ts';

// Edits and regenerations: a message sent in place of an earlier one. Loaded once there is an answer.

/** Sends a message in place of the one with its `messageId`. */
export async function sendInPlace(
  chat: BranchChat,
  messageId: string,
  given: Promise<Said>,
  options: ChatRequestOptions | undefined,
): Promise<void> {
  // Before anything is awaited: what another tab writes may leave the list meanwhile.
  const edited = upTo(chat, messageId);
  const message = await given;
  const ask = (): Promise<void> => chat.own.sendMessage(message, options);
  const isLeft = await chat.queue?.sayAnew(message, options).catch((error: unknown) => chat.fail(error));
  // A queued question that an earlier page left is also asked now.
  if (isLeft !== undefined) return isLeft ? inPlace(chat, messageId, ask) : undefined;
  // What is no question of the list is refused by the AI SDK.
  return edited ? inPlace(chat, messageId, ask, edited) : ask();
}

/** Asks for another answer, in place of a message. */
export async function askAgain(
  chat: BranchChat,
  options: Parameters<Chat<UIMessage>['regenerate']>[0],
): Promise<void> {
  const messageId = options?.messageId;
  const isShown = (): boolean => !messageId || withId(chat.messages, messageId) !== undefined;
  // A message may be missing from the list because the branch is not read yet.
  if (!isShown()) await chat.ready();
  if (withId(chat.waiting, messageId)) return;
  // No answer goes beside the one (default: the last) that another tab writes.
  if (chat.list.remoteMessages.some(({ id }) => id === (messageId ?? id))) return chat.tell(busy());
  const again = (): Promise<void> => chat.own.regenerate(options);
  // On a double click, the first regenerate removes the message of the second.
  await (isShown() ? inPlace(chat, messageId, async () => isShown() && again()) : again());
}

/** Stops the growing answer and sends a request in its place. `edited` gives the list up to an edited message. */
function inPlace(
  chat: BranchChat,
  id: string | undefined,
  ask: () => Promise<unknown>,
  edited?: () => readonly UIMessage[],
): Promise<void> {
  const stopped = (chat.isBusy || chat.resuming) && chat.stop();
  let earlier: readonly UIMessage[] = [];
  return chat.jobs.run({
    rank: 'first',
    prepare: async () => {
      await Promise.allSettled([stopped, chat.ready()]);
      await chat.resuming;
      // The caller of a button's handler may ignore this promise, so the chat shows the failure, too.
      earlier = await reveal(chat, id).catch((error: unknown) => chat.fail(error));
    },
    run: async () => {
      const { list, queue } = chat;
      list.leaveRemote();
      if (edited) list.now = [...earlier, ...edited()];
      else queue?.placeLeft(id);
      await ask();
    },
  });
}

/**
 * A function that gives the list up to a question, each message as it is saved by then; undefined for no question of the list.
 * Versions have one id, so messages are found by the keys that they have now.
 */
function upTo(
  { engine, branchId, list }: BranchChat,
  messageId: string | undefined,
): (() => readonly UIMessage[]) | undefined {
  const index = list.now.findIndex(({ id, role }) => id === messageId && role === 'user');
  if (index === -1) return undefined;
  const stood = list.now.slice(0, index + 1).map((one) => [one, keyOf(engine, one.id, branchId)] as const);
  return () =>
    stood.map(([one, key]) => {
      const saved = key === undefined ? withId(list.saved, one.id) : engine.message(key);
      return saved ?? one;
    });
}

/** Loads the messages before the first one of the list, when a turn is about to begin at that message, and returns them. */
async function reveal(chat: BranchChat, id = ''): Promise<readonly UIMessage[]> {
  await keepList(chat);
  const { engine, list, branchId } = chat;
  const node = engine.nodesOf(id, branchId)[0];
  if (id !== list.now[0]?.id || !node?.parentKey) return [];
  const { messages } = await engine.resolve({ at: node.key });
  list.prepend(messages);
  return messages.slice(0, -1);
}

/** Saves a list that the app set before anything was said in the chat: a turn that cuts it would lose the rest. */
export async function keepList(chat: BranchChat): Promise<void> {
  const { engine, list } = chat;
  if (list.saved.length > 0 || isAsking(chat) || list.now.length < 2) return;
  // In an empty conversation the list may also hold what another tab writes, which that tab saves.
  if (engine.node(list.now.at(-1)?.id ?? '')) return;
  await (await beginTurn(chat, {})).end('complete');
}

// ------------------------------------------------------------------ what a pager asks for

/** What a pager needs: the chats, and the one of the active branch. */
type Chats = ChatHost & { readonly active: BranchChat };

/** Edits a message: new text of a question is sent; new text of an answer becomes a version, and no model is called. */
export async function edit(chats: Chats, messageId: string, content: MessageContent): Promise<void> {
  const { engine, active } = chats;
  await engine.ready();
  await keepList(active);
  const node = engine.node(messageId);
  // A queued question has no node yet.
  const role = node?.name ?? withId(active.messages, messageId)?.role;
  if (role !== 'user') return void (await engine.edit(messageId, content));
  const id = node?.id ?? messageId;
  const chat = showing(chats, messageId, id) ?? (await shownBy(chats, messageId));
  const now = withId(chat.messages, id);
  const words = newWords(now, content);
  // The second press of a double click.
  if (chat.hasWork && sameJson(now?.parts, words.parts)) return chat.settled();
  await chat.sendMessage({ messageId: id, ...words });
}

/** Asks for another answer. */
export async function regenerate(chats: Chats, messageId: string, options?: object): Promise<void> {
  const { engine, active } = chats;
  await engine.ready();
  const node = engine.node(messageId);
  const id = node?.id ?? messageId;
  const shown = showing(chats, messageId, id);
  if (!shown) await active.opening?.catch(() => {});
  // The second press of a double click: that answer is no longer shown, and another one grows in its place.
  const { isOpen, key = '' } = active.turn ?? {};
  if (!shown && isOpen && engine.node(key)?.parentKey === node?.parentKey) return active.settled();
  const chat = shown ?? (await shownBy(chats, messageId));
  await chat.regenerate({ ...options, messageId: id });
}

/** The chat that shows a message, of which the id is known, or the key. */
function showing(chats: Chats, messageId: string, id: string): BranchChat | undefined {
  const isShown = ({ engine, messages, branchId }: BranchChat): boolean =>
    withId(messages, id) !== undefined && (id === messageId || keyOf(engine, id, branchId) === messageId);
  return chats.all().find(isShown);
}

/** The active chat, after it shows a message: on the most recently used branch that holds it, loaded as far back. */
async function shownBy(chats: Chats, messageId: string): Promise<BranchChat> {
  const { engine } = chats;
  await engine.selectSibling(messageId);
  const depthOf = (id = ''): number => engine.node(id)?.depth ?? 0;
  const missing = depthOf(chats.active.messages[0]?.id) - depthOf(messageId);
  if (missing > 0) await engine.loadMore(missing);
  return chats.active;
}

/** A message with its text replaced; files and metadata stay. */
function newWords(
  message: UIMessage | undefined,
  content: MessageContent,
): Pick<UIMessage, 'parts' | 'metadata'> {
  if (typeof content !== 'string') return content;
  const others = message?.parts.filter(({ type }) => type !== 'text') ?? [];
  return { parts: [...others, { type: 'text', text: content }], metadata: message?.metadata };
}

// ------------------------------------------------------------------ what the devtools ask for

/**
 * Calls a model as a turn would, and saves nothing: there is no turn, and no chat that would run a tool. The request is
 * recorded.
 */
export async function* run(
  chats: ChatHost,
  { at, fragments, system, message: words, body, signal }: RunOptions,
): AsyncGenerator<UIMessage> {
  const { engine } = chats;
  await engine.ready();
  const node = engine.node(at);
  const isAnswer = node?.name === 'assistant';
  const question = isAnswer ? engine.node(node.parentKey ?? '') : node;
  if (!question) {
    const text = `There is no question at message "${at}". Take the id of a question, or of its answer.`;
    throw new ContextError('message-not-found', text, { details: { at } });
  }
  const { key: parentKey } = question;
  const resolved = await engine.resolve({ at: parentKey, signal });
  const changed =
    fragments &&
    engine
      .fork()
      .clear()
      .set(...fragments);
  const source = changed ? await changed.resolve({ signal }) : resolved;
  const prompt = system === undefined ? source : { systemPrompt: system };
  const last = resolved.messages.at(-1);
  const asked = words !== undefined && last ? [{ ...last, ...newWords(last, words) }] : [];
  const messages = [...resolved.messages.slice(0, resolved.messages.length - asked.length), ...asked];
  const id = createId();
  const { branch, branchId } = engine.state.getState();
  const attempt = engine.siblings(isAnswer ? at : '').keys.length;
  const note = { branch, branchId, answerId: id, answerKey: `key:${id}`, attempt, dryRun: true };
  const sent = {
    chatId: engine.chatId,
    messages: [],
    messageId: undefined,
    trigger: 'regenerate-message' as const,
    abortSignal: signal,
    ...(body && { body }),
  };
  const stream = await send(chats, sent, note, { ...prompt, messages, parentKey });
  yield* readUIMessageStream({
    message: { id, role: 'assistant', parts: [] },
    stream,
    terminateOnError: true,
  });
}

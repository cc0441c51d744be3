import type { UIMessage, UIMessageChunk } from 'ai';
import { isContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import { keyOf, put, sameMessage, withId } from './list.ts';
import { lazily } from './lazy.ts';
import { conversationOf, isAsking, type OurChat } from './ourChat.ts';
import type { SendOptions } from './note.ts';
import { request } from './request.ts';
import { Turn } from './turn.ts';

/** Begins the turn that a request of the AI SDK asks for; it is saved when this resolves to what asks the transport. */
export async function begin<M extends UIMessage>(
  chat: OurChat<M>,
  sent: SendOptions<M>,
): Promise<() => Promise<ReadableStream<UIMessageChunk>>> {
  const { host } = chat;
  // A call that is answered in this moment, in any chat, shows its result before that is saved: it would look like
  // another version. An answer that was taken up meanwhile may grow for long. This request is refused for it: once another
  // one has begun, the AI SDK can't stop it any more.
  const ends = (): unknown => !chat.turn?.isOpen && chat.settled();
  do await Promise.allSettled([ends(), ...chat.writes, ...host.writes]);
  while (chat.writes.size + host.writes.size > 0);
  const turn = await beginTurn(chat, sent);
  const joining = turn.answer && host.isOwn && (await loadSeam().catch(() => undefined))?.joining(turn);
  chat.asShown = joining || ((message) => message);
  const asked = { ...sent, chatId: conversationOf(host) };
  const writes = (): Promise<unknown> => Promise.allSettled(host.writes);
  return () => request(turn, host.transport, asked, host.options.request, writes);
}

const loadSeam = lazily(() => import('./seam.ts'));

/** Saves the turn that a list asks for, on a branch of its own where it needs one, and takes the chat along. */
export async function beginTurn<M extends UIMessage>(
  chat: OurChat<M>,
  named: { readonly messageId?: string | undefined; readonly answerId?: string | undefined },
  given?: readonly M[],
): Promise<Turn<M>> {
  const { list, queue } = chat;
  const asked = given ?? withOwnIds(list);
  chat.branchId = branchOf(chat);
  try {
    const opening = Turn.open(chat, asked, named);
    chat.opening = opening;
    const turn = await opening;
    void turn.settled.then(() => chat.host.sync());
    return (chat.turn = turn);
  } catch (error) {
    // A message that can't be kept is not part of the chat, and an answer that is not replaced still is; anything
    // else may be tried again from the list.
    if (isContextError(error, 'invalid-messages') || isContextError(error, 'busy')) {
      // What another tab writes stands behind that again with the next look.
      list.leaveRemote();
      // What grows here at this moment is in the list alone: another request took up the answer that this one is refused.
      const growing = chat.turn?.isOpen ? withId(list.now, chat.turn.id) : undefined;
      list.now = growing ? put(list.saved, growing) : list.saved;
      queue?.refused();
    }
    throw error;
  }
}

/** The branch that a turn goes to: its chat's, or, where a join united that branch with another, the one that holds its messages. */
function branchOf<M extends UIMessage>({ engine, branchId, list }: OurChat<M>): string {
  const { branches, branchId: active } = engine.state.getState();
  if (branchId === undefined) return active;
  const last = list.saved.at(-1);
  if (!last || branches.some(({ id }) => id === branchId)) return branchId;
  return engine.branchHolding(keyOf(engine, last.id, branchId) ?? '') ?? branchId;
}

/** The list with unique ids, without messages that stand in it twice. */
function withOwnIds<M extends UIMessage>(list: OurChat<M>['list']): readonly M[] {
  const seen = new Map<string, M>();
  list.now = list.now.flatMap((message) => {
    const other = seen.get(message.id);
    if (!other) seen.set(message.id, message);
    else if (sameMessage(other, message)) return [];
    return other ? { ...message, id: createId() } : message;
  });
  return list.now;
}

/**
 * Saves a list that the app brought along, and that nothing was said to yet. Where something is cut from it, or answered in
 * it, the rest is nowhere else.
 */
export async function keepList<M extends UIMessage>(chat: OurChat<M>): Promise<void> {
  const { engine, list } = chat;
  if (list.saved.length > 0 || isAsking(chat) || list.now.length < 2) return;
  // What another tab writes behind nothing is in the list, too, and kept by that tab.
  if (engine.node(list.now.at(-1)?.id ?? '')) return;
  await (await beginTurn(chat, {})).end('complete');
}

/** Loads what stands before the first message of the list, when a turn is about to begin there, and gives it. */
export async function reveal<M extends UIMessage>(chat: OurChat<M>, id = ''): Promise<readonly M[]> {
  await keepList(chat);
  const { engine, list, branchId } = chat;
  const node = engine.nodesOf(id, branchId)[0];
  if (id !== list.now[0]?.id || !node?.parentKey) return [];
  const { messages } = await engine.resolve({ at: node.key });
  list.prepend(messages as M[]);
  return messages.slice(0, -1) as M[];
}

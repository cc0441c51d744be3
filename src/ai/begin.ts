import type { UIMessage, UIMessageChunk } from 'ai';
import { isContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import { keyOf, put, sameMessage, withId } from './list.ts';
import { chatIdOf, type OurChat } from './ourChat.ts';
import type { SendOptions } from './contextChat.ts';
import { request } from './request.ts';
import { loadSeam, Turn, type Named } from './turn.ts';

/**
 * Opens and saves the turn that a request of the AI SDK asks for. Resolves to a function that sends the request to the
 * transport.
 */
export async function begin<M extends UIMessage>(
  chat: OurChat<M>,
  sent: SendOptions<M>,
): Promise<() => Promise<ReadableStream<UIMessageChunk>>> {
  const { host } = chat;
  // A result that is just being given to a tool call is already in the list but not saved yet. The plan would take that message
  // for another version, so wait for the save. Do not wait for an answer that was taken up meanwhile: it may grow for long, and
  // the AI SDK could no longer stop it once another request has begun. `Turn.open()` refuses this request then.
  const ends = (): unknown => !chat.turn?.isOpen && chat.settled();
  do await Promise.allSettled([ends(), ...chat.writes, ...host.writes]);
  while (chat.writes.size + host.writes.size > 0);
  const turn = await beginTurn(chat, sent);
  const seam = turn.answer && host.isOwn ? await loadSeam().catch(() => undefined) : undefined;
  const cut = turn.read() ?? turn.answer;
  chat.asShown = (message) => seam?.joinAt(message, cut) ?? message;
  return () => request(turn, { ...sent, chatId: chatIdOf(host) });
}

/** Saves the turn that a list asks for, on a new branch where the list differs from its branch, and moves the chat there. */
export async function beginTurn<M extends UIMessage>(
  chat: OurChat<M>,
  named: Named,
  given?: readonly M[],
): Promise<Turn<M>> {
  const { list } = chat;
  const asked = given ?? withOwnIds(list);
  chat.branchId = branchOf(chat);
  try {
    const opening = new Turn(chat, asked, named).open();
    chat.opening = opening;
    const turn = await opening;
    void turn.settled.then(() => chat.moved());
    return (chat.turn = turn);
  } catch (error) {
    // After `invalid-messages` and `busy` the list must show what is saved again. After any other error it stays, so that the
    // person can try again.
    if (isContextError(error, 'invalid-messages') || isContextError(error, 'busy')) {
      // The next `sync()` shows what another tab writes behind the list again.
      list.leaveRemote();
      // Another request took up the answer because of which this one is refused: the growing words are in the list alone.
      const growing = chat.turn?.isOpen ? withId(list.now, chat.turn.id) : undefined;
      list.now = growing ? put(list.saved, growing) : list.saved;
    }
    throw error;
  }
}

/**
 * The branch that a turn goes to: the branch of its chat, or the branch that holds the chat's messages where a join merged the
 * two.
 */
function branchOf<M extends UIMessage>({ engine, branchId, list }: OurChat<M>): string {
  const { branches, branchId: active } = engine.state.getState();
  if (branchId === undefined) return active;
  const last = list.saved.at(-1);
  if (!last || branches.some(({ id }) => id === branchId)) return branchId;
  return engine.branchHolding(keyOf(engine, last.id, branchId) ?? '') ?? branchId;
}

/** The list with unique ids, and each message once. */
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

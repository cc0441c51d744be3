import type { UIMessage } from 'ai';
import { isContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import type { Standing } from './contextChat.ts';
import { longer } from './goingOn.ts';
import { put, withId } from './list.ts';
import { openList, type OpenedList } from './openList.ts';
import { isAsking } from './queue.ts';
import { Turn } from './turn.ts';
import { onUnwanted } from './unwanted.ts';

/** Saves the turn that a list asks for, on a branch of its own where it needs one, and takes the chat along. */
export async function beginTurn<M extends UIMessage>(
  at: Standing<M>,
  {
    messageId,
    answerId,
  }: { readonly messageId?: string | undefined; readonly answerId?: string | undefined },
  asked: readonly M[] = at.list.now,
): Promise<Turn<M>> {
  const { engine } = at.host;
  const forkId = createId();
  const branchId = (at.branchId ??= engine.state.getState().branchId);
  try {
    const place = { branchId, forkId, answerId, messageId, isSole: at.queue?.hasPlaced };
    const opened = await land(at, forkId, openList(engine, asked, at.list.saved, place));
    return (at.turn = turnOf(at, opened, forkId));
  } catch (error) {
    // A message that can't be kept is not part of the chat, and an answer that is not replaced still is; anything
    // else may be tried again from the list.
    if (isContextError(error, 'invalid-messages') || isContextError(error, 'busy')) {
      // What another tab writes stands behind that again with the next look.
      at.list.leaveElsewhere();
      // What grows here at this moment is in the list alone: another request took up the answer that this one is refused.
      const growing = at.turn?.isOpen ? withId(at.list.now, at.turn.options.id) : undefined;
      at.list.now = growing ? put(at.list.saved, growing) : at.list.saved;
      at.queue?.refused();
    }
    throw error;
  }
}

/** Takes the chat along to where a turn goes. */
async function land<M extends UIMessage>(
  at: Standing<M>,
  forkId: string,
  opening: Promise<OpenedList<M>>,
): Promise<OpenedList<M>> {
  const { host, chat, list } = at;
  host.register(forkId, chat);
  try {
    const opened = await opening;
    host.unregister(at.branchId ?? '', chat);
    at.branchId = opened.branchId;
    const [saved, now] = opened.change(list.saved, list.now);
    list.saved = saved;
    list.forget();
    if (now !== list.now) list.now = now;
    const copy = copyIn(chat);
    // Another tab added to it until then.
    if (copy && opened.renamed.size > 0 && copy.id === opened.answer?.id)
      copy.parts = opened.answer.parts.map((part) => ({ ...part }));
    at.queue?.turned();
    return opened;
  } finally {
    host.unregister(forkId, chat);
    host.register(at.branchId ?? '', chat);
  }
}

/** The AI SDK puts what comes behind a copy of its own, which it made before it asked, and writes into. */
export function copyIn(chat: object): UIMessage | undefined {
  const { activeResponse } = chat as { activeResponse?: { state: { message: UIMessage } } };
  return activeResponse?.state.message;
}

function turnOf<M extends UIMessage>(at: Standing<M>, opened: OpenedList<M>, forkId: string): Turn<M> {
  const { host, chat, list } = at;
  const { id, answer, version } = opened;
  const turn = new Turn<M>({
    engine: host.engine,
    ...opened,
    make: version && (() => land(at, forkId, version.make(withId(list.now, version.of)))),
    read: () => {
      const grown = list.now.findLast((message) => message.id === id);
      // A server may begin an answer anew that broke off: it counts when it says more than was said.
      return grown && longer(answer, grown);
    },
    ended: (message, isMute) => {
      at.isMute = isMute;
      if (!message) {
        if (list.now.at(-1)?.id === id) list.now = list.now.slice(0, -1);
        return;
      }
      list.saved = put(list.saved, message);
      // A server may have taken back what is kept, or begun it anew: the list shows what is saved.
      if (!list.now.includes(message)) list.now = list.now.map((one) => (one.id === id ? message : one));
    },
  });
  onUnwanted(
    turn,
    () => at.branchId,
    () => void chat.leave(),
  );
  void turn.settled.then(() => host.sync());
  return turn;
}

/**
 * Saves a list that the app brought along, and that nothing was said to yet. Where something is cut from it, or answered in
 * it, the rest is nowhere else.
 */
export async function keepList<M extends UIMessage>(at: Standing<M>): Promise<void> {
  const { host, chat, list } = at;
  if (!chat.isUnsaved || isAsking(chat) || list.now.length < 2) return;
  // What another tab writes behind nothing is in the list, too, and kept by that tab.
  if (host.engine.node(list.now.at(-1)?.id ?? '')) return;
  await (await beginTurn(at, {})).end('complete');
}

/** Loads what stands before the first message of the list, when a turn is about to begin there, and gives it. */
export async function reveal<M extends UIMessage>(at: Standing<M>, id = ''): Promise<readonly M[]> {
  await keepList(at);
  const { host, list } = at;
  if (id !== list.now[0]?.id || !host.engine.node(id)?.parentId) return [];
  const { messages } = await host.engine.resolve({ at: id });
  list.prepend(messages as M[]);
  return messages.slice(0, -1) as M[];
}

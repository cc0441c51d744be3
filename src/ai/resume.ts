import type { UIMessage, UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { isContextError } from '../errors.ts';
import { beginTurn } from './begin.ts';
import { headOf, keyOf } from './list.ts';
import { conversationOf, copyIn, type OurChat } from './ourChat.ts';
import { placeOf } from './place.ts';
import { replaying } from './replay.ts';
import { withNote, type ReconnectOptions, type RequestNote } from './note.ts';
import { passOn } from './request.ts';

type Answer = ReadableStream<UIMessageChunk>;

/**
 * Takes up an answer that a server still streams: on the node that was cut off, or on a new one where the question is
 * all that is left. Null where the transport knows of none, the answer is here already, the list shows an earlier place,
 * or another tab took it up first.
 */
export async function takeUpIn<M extends UIMessage>(
  chat: OurChat<M>,
  sent: ReconnectOptions<M>,
): Promise<Answer | null> {
  const { engine, host, list, branchId, isReplay } = chat;
  const { abortSignal } = sent;
  const asked = list.begun.at(-1);
  const note = awaited(engine, branchId, list.saved.at(-1));
  if (!note) return null;
  const key = note.answerId === undefined ? undefined : keyOf(engine, note.answerId, branchId);
  const place = await placeOf(engine, key);
  const request = withNote({ ...sent, chatId: conversationOf(host) }, note);
  const source = abortSignal?.aborted ? null : await host.transport.reconnectToStream(request);
  if (!source) return null;
  const begin = async (): Promise<Answer | null> => {
    // A result that was given meanwhile may have let it go on here.
    if (chat.turn?.isOpen) return null;
    await chat.turn?.settled;
    // One that was let go on again since, here or in another tab, says what counts.
    const isOvertaken = (await placeOf(engine, key))?.request !== place?.request;
    if (isOvertaken || abortSignal?.aborted) return null;
    if (!mayGoOn(chat, list.begun.at(-1), [asked?.id, note.answerId])) return null;
    const turn = await beginTurn(chat, note, list.begun).catch(leave);
    if (!turn) return null;
    // AI SDK 5 goes on with what the page had of an answer in which a call broke off.
    const copy = isReplay ? copyIn(chat) : undefined;
    if (copy) copy.parts = [];
    const { asShown, hear } = replaying(turn.answer, place, isReplay);
    chat.asShown = asShown;
    return passOn(turn, abortSignal, () => source, { hear });
  };
  // One after the other: StrictMode asks twice, and gives the first one up in mid-beginning.
  const taken = Promise.resolve(chat.taking).then(begin);
  chat.taking = taken.catch(() => {});
  // An answer that is not taken up after all is cancelled, so that its server stops.
  const letGo = (): Promise<void> => source.cancel();
  taken.then((answer) => (answer ? undefined : letGo()), letGo).catch(() => {});
  return taken;
}

/**
 * What a server may still stream on a branch, behind its last message that is shown: that answer, or the one that was
 * reserved for that question, and never said a word here. Null where more is saved behind that message: the person looks
 * at an earlier place.
 */
function awaited(
  engine: ContextEngine,
  branchId: string | undefined,
  last: UIMessage | undefined,
): Partial<RequestNote> | null {
  if (!last) return {};
  const lastKey = keyOf(engine, last.id, branchId);
  const end = headOf(engine, branchId) ?? lastKey;
  if (end !== lastKey && engine.status(end ?? '') !== 'streaming') return null;
  const branch = engine.state.getState().branches.find(({ id }) => id === branchId);
  if (!branch) return {};
  const head = engine.node(engine.lastOf(branch.id) ?? '');
  const isReserved = last.role === 'user' && head?.parentKey === lastKey;
  const answerId = last.role === 'assistant' ? last.id : isReserved ? head?.id : undefined;
  return { branch: branch.name, branchId: branch.id, ...(answerId === undefined ? {} : { answerId }) };
}

/**
 * Whether an answer that a server still streams has a place: after a question, also one that is about to be saved, or
 * where an answer was cut off. Not where another tab is at work: it is that tab's answer, and would be a second one here.
 * Nor where the list ends with none of `asked` any more, as it did when the server was asked: the person went elsewhere.
 */
function mayGoOn<M extends UIMessage>(
  { engine, branchId }: OurChat<M>,
  last: UIMessage | undefined,
  asked: readonly unknown[],
): boolean {
  if (!last || !asked.includes(last.id) || engine.state.getState().remoteMessages.length > 0) return false;
  const key = keyOf(engine, last.id, branchId);
  return last.role === 'user' || (engine.status(key ?? '') ?? 'complete') !== 'complete';
}

/** Leaves an answer to another tab that took it up first; anything else that went wrong is told. */
function leave(error: unknown): null {
  if (isContextError(error, 'busy')) return null;
  throw error;
}

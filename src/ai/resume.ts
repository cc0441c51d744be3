import type { UIMessageChunk } from 'ai';
import { isContextError } from '../errors.ts';
import { sameJson } from '../graph/same.ts';
import { headOf, keyOf } from './list.ts';
import type { BranchChat } from './branchChat.ts';
import { chatIdOf, copyIn } from './host.ts';
import type { ReconnectOptions, RequestNote } from './contextChat.ts';
import { beginTurn, passOn, withNote } from './request.ts';
import { placeOf, replaying } from './seam.ts';

type Answer = ReadableStream<UIMessageChunk>;

/** Takes up an answer that a server still streams, on the node that was cut off or a new one; null where there is none. */
export async function takeUpIn(chat: BranchChat, sent: ReconnectOptions): Promise<Answer | null> {
  const { engine, host, list, branchId, isReplay } = chat;
  const { abortSignal } = sent;
  const note = awaited(chat);
  if (!note) return null;
  const key = note.answerId === undefined ? undefined : keyOf(engine, note.answerId, branchId);
  const place = await placeOf(engine, key);
  const request = withNote({ ...sent, chatId: chatIdOf(host) }, note);
  const source = abortSignal?.aborted ? null : await host.transport.reconnectToStream(request);
  if (!source) return null;
  const begin = async (): Promise<Answer | null> => {
    // A tool result may have continued the answer here meanwhile.
    if (chat.turn?.isOpen) return null;
    await chat.turn?.settled;
    // The answer was continued again since, here or in another tab: only that stream counts.
    if (!sameJson(await placeOf(engine, key), place) || abortSignal?.aborted) return null;
    // The person went elsewhere, or another tab took the answer up.
    if (!list.whole[0] || !sameJson(awaited(chat), note)) return null;
    const turn = await beginTurn(chat, note, list.whole).catch(leave);
    if (!turn) return null;
    // AI SDK 5 continues from the page's copy of an answer that broke off in a tool call.
    const copy = isReplay ? copyIn(chat) : undefined;
    if (copy) copy.parts = [];
    chat.asShown = replaying(turn.answer, place, isReplay);
    return passOn(turn, abortSignal, () => source, true);
  };
  // In order: StrictMode resumes twice, and aborts the first call while it begins.
  const taken = Promise.allSettled([chat.opening]).then(begin);
  chat.opening = taken;
  // A stream that is not taken up is cancelled, so that its server stops.
  const letGo = (): Promise<void> => source.cancel();
  taken.then((answer) => (answer ? undefined : letGo()), letGo).catch(() => {});
  return taken;
}

/**
 * What a server may still stream behind the last shown message; null behind a complete answer, where the person shows an earlier
 * point, and where another tab works on the branch.
 */
function awaited({ engine, branchId, list }: BranchChat): Partial<RequestNote> | null {
  const last = list.whole.at(-1);
  const lastKey = keyOf(engine, last?.id ?? '', branchId);
  const { branches, remoteMessages } = engine.state.getState();
  if (!last) return {};
  const isWhole = last.role === 'assistant' && (engine.status(lastKey ?? '') ?? 'complete') === 'complete';
  if (isWhole || remoteMessages.length > 0) return null;
  const end = headOf(engine, branchId) ?? lastKey;
  if (end !== lastKey && engine.status(end ?? '') !== 'streaming') return null;
  const branch = branches.find(({ id }) => id === branchId);
  if (!branch) return {};
  const head = engine.node(engine.lastOf(branch.id) ?? '');
  const isReserved = last.role === 'user' && head?.parentKey === lastKey;
  const answerId = last.role === 'assistant' ? last.id : isReserved ? head?.id : undefined;
  return { branch: branch.name, branchId: branch.id, ...(answerId === undefined ? {} : { answerId }) };
}

/** Returns null for an answer that another tab took up first; throws any other error. */
function leave(error: unknown): null {
  if (isContextError(error, 'busy')) return null;
  throw error;
}

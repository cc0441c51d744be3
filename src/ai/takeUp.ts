import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { beginTurn } from './begin.ts';
import type { Standing } from './contextChat.ts';
import { awaited, leave, mayGoOn, orLetGo } from './goingOn.ts';
import { isOvertaken, placeOf, replayTo, type Replay } from './replay.ts';
import { passOn, withNote } from './transport.ts';

/** Who asks twice takes up once: what each chat is at. */
const lines: WeakMap<object, Promise<unknown>> = new WeakMap();

/**
 * Takes up an answer that a server still streams: on the node that was cut off, or on a new one where the question is
 * all that is left. Null where the transport knows of none, the answer is here already, or the list shows an earlier place.
 * `show` is told how the answer is shown from then on.
 */
export async function takeUp<M extends UIMessage>(
  at: Standing<M>,
  sent: Parameters<ChatTransport<M>['reconnectToStream']>[0],
  show: (asShown: Replay<M>['asShown']) => void,
): Promise<ReadableStream<UIMessageChunk> | null> {
  const { chat } = at;
  const { engine, transport } = at.host;
  const asked = at.list.begun.at(-1)?.id;
  const note = await awaited(engine, at.branchId, at.list.saved.at(-1));
  if (!note) return null;
  const place = await placeOf(engine, note.answerId);
  const source = sent.abortSignal?.aborted ? null : await transport.reconnectToStream(withNote(sent, note));
  if (!source) return null;
  const begin = async (): Promise<ReadableStream<UIMessageChunk> | null> => {
    // A result that was given meanwhile may have let it go on here.
    if (at.turn?.isOpen) return null;
    await at.turn?.settled;
    if (await isOvertaken(engine, note.answerId, place)) return null;
    const list = at.list.begun;
    const isWanted = !sent.abortSignal?.aborted && mayGoOn(engine, list.at(-1), [asked, note.answerId]);
    const turn = isWanted ? await beginTurn(at, note, list).catch(leave) : null;
    if (!turn) return null;
    const replay = replayTo(chat, transport, turn.options.answer, place);
    show(replay.asShown);
    return passOn(turn, sent.abortSignal, () => source, replay);
  };
  // StrictMode asks twice, and gives the first one up in the middle of its beginning: the second one begins after that.
  const taken = orLetGo(source, (lines.get(chat) ?? Promise.resolve()).then(begin));
  lines.set(
    chat,
    taken.catch(() => {}),
  );
  return taken;
}

import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { awaited, leave, mayGoOn } from './goingOn.ts';
import { placeOf, replayTo, type Replay } from './replay.ts';
import { passOn, withNote } from './transport.ts';
import type { Turn } from './turn.ts';

/** A chat that asks for an answer which its server still streams. */
interface Taker<M extends UIMessage> {
  readonly engine: ContextEngine;
  readonly transport: ChatTransport<M>;
  /** The AI SDK's chat. */
  readonly chat: object;
  readonly branchId: string | undefined;
  /** What it asks with. */
  readonly sent: Parameters<ChatTransport<M>['reconnectToStream']>[0];
  /** The messages of the branch that are saved. */
  saved(): readonly M[];
  /** What is shown: those, or what the app shows before there are any. */
  list(): readonly M[];
  /** Resolves when the answer before it is saved. */
  settled(): Promise<void> | undefined;
  begin(list: readonly M[], answerId: string | undefined): Promise<Turn<M>>;
  /** From now on the answer is shown like this. */
  show(asShown: Replay<M>['asShown']): void;
}

/** Who asks twice takes up once: what each chat is at. */
const lines: WeakMap<object, Promise<unknown>> = new WeakMap();

/**
 * Takes up an answer that a server still streams: on the node that was cut off, or on a new one where the question is
 * all that is left. Null where the transport knows of none, or the answer is here already.
 */
export async function takeUp<M extends UIMessage>(
  taker: Taker<M>,
): Promise<ReadableStream<UIMessageChunk> | null> {
  const { chat, engine, transport, branchId, sent } = taker;
  const note = await awaited(engine, branchId, taker.saved().at(-1));
  const place = await placeOf(engine, note.answerId);
  const source = sent.abortSignal?.aborted ? null : await transport.reconnectToStream(withNote(sent, note));
  if (!source) return null;
  const begin = async (): Promise<ReadableStream<UIMessageChunk> | null> => {
    await taker.settled();
    const list = taker.list();
    const isWanted = !sent.abortSignal?.aborted && mayGoOn(engine, list.at(-1));
    const turn = isWanted ? await taker.begin(list, note.answerId).catch(leave) : null;
    if (!turn) {
      await source.cancel();
      return null;
    }
    const replay = replayTo(chat, transport, turn.options.answer, place);
    taker.show(replay.asShown);
    return passOn(turn, sent.abortSignal, () => source, replay);
  };
  // StrictMode asks twice, and gives the first one up in the middle of its beginning: the second one begins after that.
  const taken = (lines.get(chat) ?? Promise.resolve()).then(begin);
  lines.set(
    chat,
    taken.catch(() => {}),
  );
  return taken;
}

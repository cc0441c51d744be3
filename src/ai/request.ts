import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { maskSecrets } from '../secrets/maskSecrets.ts';
import type { Take } from '../record/recorder.ts';
import { lazily } from './lazy.ts';
import { hasWords, type Part } from './message.ts';
import { withNote, type PrepareRequest, type RequestNote, type SendOptions } from './note.ts';
import { relay, type Passing } from './relay.ts';
import { saidOf } from './said.ts';
import type { Call, Turn } from './turn.ts';

type Answer = ReadableStream<UIMessageChunk>;

/**
 * Sends the request of an opened turn, and relays its answer. If the turn follows an answer that another tab streams, the
 * request waits until that answer has ended, so that the model reads all of it. `writes` resolves when tool results that are
 * just being given are saved: the model reads them, too.
 */
export function request<M extends UIMessage>(
  turn: Turn<M>,
  transport: ChatTransport<M>,
  sent: SendOptions<M>,
  prepare?: PrepareRequest<M>,
  writes?: () => Promise<unknown>,
): Promise<Answer> {
  /**
   * Keeps the point at which an answer is continued, for a page that takes it up. If that code can't be loaded, it is not kept.
   */
  const begun = async (): Promise<void> => {
    const { engine, key, answer } = turn;
    const code = answer && (await loadPlace().catch(() => undefined));
    await code?.keepPlace(engine, key, answer as M);
  };
  const ask = async (): Promise<Answer> => {
    if (turn.versionOf === undefined) await begun();
    await wordsBefore(turn);
    await writes?.();
    sent.abortSignal?.throwIfAborted();
    const take = await takeOf(turn.engine, parentOf(turn), turn.call);
    const prepared = await prepareRequest(turn, sent, prepare, take);
    sent.abortSignal?.throwIfAborted();
    return take
      ? take.send(prepared, (own) => transport.sendMessages(own))
      : transport.sendMessages(prepared);
  };
  return passOn(turn, sent.abortSignal, ask, { mustSpeak: true, begun });
}

/**
 * The recording of a request behind the message `parentKey`, while somebody records. If that code can't be loaded, the request
 * goes out unrecorded.
 */
export async function takeOf(
  engine: ContextEngine,
  parentKey: string | null,
  call?: Call,
): Promise<Take | undefined> {
  const { recording: desk } = engine;
  if (desk === undefined) return undefined;
  const code = await loadRecorder().catch(() => undefined);
  return code?.takeRequest(desk, { parentKey, call, mask: maskSecrets });
}

const loadRecorder = lazily(() => import('../record/recorder.ts'));

/** Waits until no message that the turn depends on grows any more, or the turn has ended. */
async function wordsBefore<M extends UIMessage>({ engine, key, versionOf, settled }: Turn<M>): Promise<void> {
  const grows = (): boolean => growsBefore(engine, versionOf ?? key);
  if (!grows()) return;
  await new Promise<void>((resolve) => {
    const unsubscribe = engine.state.subscribe(() => void (grows() || resolve()));
    void settled.then(resolve);
    void settled.then(unsubscribe);
  });
}

function growsBefore(engine: ContextEngine, key: string): boolean {
  let at = engine.node(key)?.parentKey ?? null;
  while (at !== null && engine.status(at) !== 'streaming') at = engine.node(at)?.parentKey ?? null;
  return at !== null;
}

/**
 * Requests and relays an answer. If the request fails in any way, the turn is ended and its words are saved before the failure
 * is reported. A stop never waits for a transport that ignores the abort signal.
 */
export async function passOn<M extends UIMessage>(
  turn: Turn<M>,
  signal: AbortSignal | undefined,
  ask: () => Answer | PromiseLike<Answer>,
  passing: Passing = {},
): Promise<Answer> {
  turn.call = { startedAt: Date.now(), steps: 0 };
  const aborted = new Promise<never>((_resolve, reject) => {
    const abort = (): void => {
      void turn.end('stopped');
      reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
  try {
    signal?.throwIfAborted();
    const stream = Promise.resolve(ask());
    stream.then((late) => (signal?.aborted ? late.cancel() : undefined)).catch(() => {});
    const answer = await Promise.race([stream, aborted]);
    if (typeof (answer as Partial<Answer> | null | undefined)?.getReader !== 'function')
      (await import('./refusals.ts')).refuseStream(answer);
    return relay(answer, turn, passing);
  } catch (error) {
    await turn.end('failed');
    throw saidOf(error);
  }
}

async function prepareRequest<M extends UIMessage>(
  turn: Turn<M>,
  sent: SendOptions<M>,
  prepare: PrepareRequest<M> | undefined,
  take: Take | undefined,
): Promise<SendOptions<M>> {
  const { engine, versionOf, branchId, forkId } = turn;
  const at = versionOf ?? turn.key;
  const source = await engine.resolve({ at, signal: sent.abortSignal });
  // A reserved answer is not among the versions yet: then all of them are earlier.
  const { index, keys } = engine.siblings(at);
  const plain: RequestNote = {
    branch: engine.state.getState().branches.find((one) => one.id === branchId)?.name ?? engine.branch,
    branchId: versionOf === undefined ? branchId : forkId,
    answerId: turn.id,
    answerKey: turn.key,
    attempt: versionOf === undefined && index >= 0 ? index : keys.length,
  };
  const note = take ? { ...plain, ...take.begin({ ...plain, ...source }) } : plain;
  return preparedFrom(sent, note, source as { systemPrompt: string; messages: M[] }, prepare);
}

/** What goes to the transport, after the app's `request` option. */
export async function preparedFrom<M extends UIMessage>(
  sent: SendOptions<M>,
  note: RequestNote,
  { systemPrompt, messages }: { readonly systemPrompt: string; readonly messages: M[] },
  prepare: PrepareRequest<M> | undefined,
): Promise<SendOptions<M>> {
  const sendable = await sendableOf(messages);
  const parts = await prepare?.({ ...sent, ...note, systemPrompt, messages: sendable });
  return {
    ...withNote(sent, note),
    messages: sendable,
    // Without a system prompt of ours, the body stays the app's own.
    ...(systemPrompt && { body: { ...sent.body, system: systemPrompt } }),
    ...parts,
  };
}

/** The key of the message that an answer replies to. */
function parentOf<M extends UIMessage>({ engine, versionOf, key }: Turn<M>): string | null {
  return engine.node(versionOf ?? key)?.parentKey ?? null;
}

/** The messages without parts that providers refuse; a single question needs no check. */
async function sendableOf<M extends UIMessage>(messages: M[]): Promise<M[]> {
  const isPlain = messages.every(
    (one) => one.role === 'user' && hasWords(one) && one.parts.every(isPlainPart),
  );
  return isPlain ? messages : (await loadSendable()).toSendable(messages);
}

function isPlainPart({ type }: Part): boolean {
  return type === 'text' || type === 'file';
}

const loadPlace = lazily(() => import('./place.ts'));
const loadSendable = lazily(() => import('./sendable.ts'));

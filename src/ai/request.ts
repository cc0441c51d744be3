import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import type { Source } from '../record/recorder.ts';
import { maskSecrets } from '../secrets/maskSecrets.ts';
import type { PrepareRequest, RequestNote, SendOptions } from './contextChat.ts';
import { lazily } from './lazy.ts';
import { hasWords, type Part } from './message.ts';
import { relay } from './relay.ts';
import { saidOf } from './said.ts';
import type { Call, Turn } from './turn.ts';

type Answer = ReadableStream<UIMessageChunk>;

/**
 * Sends the request of an opened turn, and relays its answer. If the turn follows an answer that another tab streams, the
 * request waits until that answer has ended, and tool results that are just being given are saved, so that the model reads all
 * of it.
 */
export function request<M extends UIMessage>(turn: Turn<M>, sent: SendOptions<M>): Promise<Answer> {
  const { engine, host, key } = turn;
  const ask = async (): Promise<Answer> => {
    if (turn.versionOf === undefined) await turn.keepPlace();
    await wordsBefore(turn);
    await Promise.allSettled(host.writes);
    sent.abortSignal?.throwIfAborted();
    const { versionOf, branchId, forkId } = turn;
    const at = versionOf ?? key;
    const source = await engine.resolve({ at, signal: sent.abortSignal });
    // A reserved answer is not among the versions yet: then all of them are earlier.
    const { index, keys } = engine.siblings(at);
    const note: RequestNote = {
      branch: engine.state.getState().branches.find((one) => one.id === branchId)?.name ?? engine.branch,
      branchId: versionOf === undefined ? branchId : forkId,
      answerId: turn.id,
      answerKey: key,
      attempt: versionOf === undefined && index >= 0 ? index : keys.length,
    };
    const parentKey = engine.node(at)?.parentKey ?? null;
    return send(host, sent, note, {
      ...source,
      parentKey,
      messages: source.messages as M[],
      call: turn.call,
    });
  };
  return passOn(turn, sent.abortSignal, ask);
}

/** What a request needs of the chats. */
export interface Asker<M extends UIMessage> {
  readonly engine: ContextEngine;
  readonly transport: ChatTransport<M>;
  readonly options: { readonly request?: PrepareRequest<M> | undefined };
}

/** What a request is made from, and the key of the message that its answer follows; null for a first one. */
interface Asked<M extends UIMessage> extends Source {
  readonly messages: M[];
  readonly parentKey: string | null;
  readonly call?: Call | undefined;
}

/**
 * Hands a request to the transport: without parts that providers refuse, as the app's `request` option changes it. It is
 * recorded while somebody records; if that code can't be loaded, it goes out unrecorded.
 */
export async function send<M extends UIMessage>(
  { engine, transport, options }: Asker<M>,
  sent: SendOptions<M>,
  plain: RequestNote,
  { systemPrompt, made, messages, parentKey, call }: Asked<M>,
): Promise<Answer> {
  const { recording: desk } = engine;
  const recorder = desk && (await loadRecorder().catch(() => undefined));
  const take = desk && recorder?.takeRequest(desk, { parentKey, call, mask: maskSecrets });
  const note = take ? { ...plain, ...take.begin({ ...plain, systemPrompt, made }) } : plain;
  const sendable = await sendableOf(messages);
  const parts = await options.request?.({ ...sent, ...note, systemPrompt, messages: sendable });
  sent.abortSignal?.throwIfAborted();
  const prepared = {
    ...withNote(sent, note),
    messages: sendable,
    // Without a system prompt of ours, the body stays the app's own.
    ...(systemPrompt && { body: { ...sent.body, system: systemPrompt } }),
    ...parts,
  };
  const ask = (own: SendOptions<M>): Promise<Answer> => transport.sendMessages(own);
  return take ? take.send(prepared, ask) : ask(prepared);
}

const loadRecorder = lazily(() => import('../record/recorder.ts'));

/** A request with the note in its metadata; metadata that are no object stay as they are. */
export function withNote<T extends { metadata?: unknown }>(sent: T, note: Partial<RequestNote>): T {
  const { metadata } = sent;
  const isRecord = typeof metadata === 'object' && !Array.isArray(metadata);
  return {
    ...sent,
    metadata: isRecord ? { ...metadata, contextree: note } : (metadata ?? { contextree: note }),
  };
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

const loadSendable = lazily(() => import('./modelPrompt.ts'));

/** Waits until no message that the turn depends on grows any more, or the turn has ended. */
async function wordsBefore<M extends UIMessage>({ engine, key, versionOf, settled }: Turn<M>): Promise<void> {
  const grows = (): boolean => {
    let at = engine.node(versionOf ?? key)?.parentKey ?? null;
    while (at !== null && engine.status(at) !== 'streaming') at = engine.node(at)?.parentKey ?? null;
    return at !== null;
  };
  if (!grows()) return;
  await new Promise<void>((resolve) => {
    const unsubscribe = engine.state.subscribe(() => void (grows() || resolve()));
    void settled.then(resolve);
    void settled.then(unsubscribe);
  });
}

/**
 * Requests and relays an answer. If the request fails in any way, the turn is ended and its words are saved before the failure
 * is reported. A stop never waits for a transport that ignores the abort signal.
 */
export async function passOn<M extends UIMessage>(
  turn: Turn<M>,
  signal: AbortSignal | undefined,
  ask: () => Answer | PromiseLike<Answer>,
  hear?: (chunk: UIMessageChunk) => readonly UIMessageChunk[],
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
    return relay(answer, turn, hear);
  } catch (error) {
    await turn.end('failed');
    throw saidOf(error);
  }
}

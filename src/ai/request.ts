import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { isContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import type { Source } from '../record/recorder.ts';
import { maskSecrets } from '../secrets/maskSecrets.ts';
import type { PrepareRequest, RequestNote, SendOptions } from './contextChat.ts';
import { lazily } from './lazy.ts';
import { keyOf, put, sameMessage, withId } from './list.ts';
import { hasWords, type Part } from './message.ts';
import { chatIdOf, type OurChat } from './ourChat.ts';
import { relay } from './relay.ts';
import { saidOf } from './said.ts';
import { Turn, type Call, type Named } from './turn.ts';

type Answer = ReadableStream<UIMessageChunk>;

/** Saves the turn that a request of the AI SDK asks for. Resolves to a function that sends the request to the transport. */
export async function begin(chat: OurChat, sent: SendOptions): Promise<() => Promise<Answer>> {
  const { host } = chat;
  // A result that is just being given to a tool call is already in the list but not saved yet. The plan would take that message
  // for another version, so wait for the save. Do not wait for an answer that was taken up meanwhile: it may grow for long, and
  // the AI SDK could no longer stop it once another request has begun. `Turn.open()` refuses this request then.
  const ends = (): unknown => !chat.turn?.isOpen && chat.settled();
  do await Promise.allSettled([ends(), ...chat.writes, ...host.writes]);
  while (chat.writes.size + host.writes.size > 0);
  const turn = await beginTurn(chat, sent);
  // Without this code, the point at which an answer is continued is not kept, and its words are not joined there.
  const seam = turn.answer && (await loadSeam().catch(() => undefined));
  const cut = turn.read() ?? turn.answer;
  chat.asShown = (message) => (host.isOwn && seam?.joinAt(message, cut)) || message;
  return async () => {
    if (turn.answer) await seam?.keepPlace(turn.engine, turn.key, turn.answer);
    return request(turn, { ...sent, chatId: chatIdOf(host) });
  };
}

const loadSeam = lazily(() => import('./seam.ts'));

/** Saves the turn that a list asks for, on a new branch where the list differs from its branch, and moves the chat there. */
export async function beginTurn(chat: OurChat, named: Named, given?: readonly UIMessage[]): Promise<Turn> {
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
      // This request is refused because another one took up the answer, whose growing words are in the list alone.
      const growing = chat.turn?.isOpen ? withId(list.now, chat.turn.id) : undefined;
      list.now = growing ? put(list.saved, growing) : list.saved;
    }
    throw error;
  }
}

/** The branch that a turn goes to: that of its chat, or where a join merged it, the one that holds the chat's messages. */
function branchOf({ engine, branchId, list }: OurChat): string {
  const { branches, branchId: active } = engine.state.getState();
  if (branchId === undefined) return active;
  const last = list.saved.at(-1);
  if (!last || branches.some(({ id }) => id === branchId)) return branchId;
  return engine.branchHolding(keyOf(engine, last.id, branchId) ?? '') ?? branchId;
}

/** The list with unique ids, and each message once. */
function withOwnIds(list: OurChat['list']): readonly UIMessage[] {
  const seen = new Map<string, UIMessage>();
  list.now = list.now.flatMap((message) => {
    const other = seen.get(message.id);
    if (!other) seen.set(message.id, message);
    else if (sameMessage(other, message)) return [];
    return other ? { ...message, id: createId() } : message;
  });
  return list.now;
}

/** Sends the request of an opened turn as soon as all that the model is to read is saved, and relays its answer. */
function request(turn: Turn, sent: SendOptions): Promise<Answer> {
  const { engine, host, key } = turn;
  const ask = async (): Promise<Answer> => {
    await wordsBefore(turn);
    await Promise.allSettled(host.writes);
    sent.abortSignal?.throwIfAborted();
    const { branchId } = turn;
    const source = await engine.resolve({ at: key, signal: sent.abortSignal });
    // A reserved answer is not among the versions yet: then all of them are earlier.
    const { index, keys } = engine.siblings(key);
    const note: RequestNote = {
      branch: engine.state.getState().branches.find((one) => one.id === branchId)?.name ?? engine.branch,
      branchId,
      answerId: turn.id,
      answerKey: key,
      attempt: index >= 0 ? index : keys.length,
    };
    return send(host, sent, note, {
      ...source,
      parentKey: engine.node(key)?.parentKey ?? null,
      call: turn.call,
    });
  };
  return passOn(turn, sent.abortSignal, ask);
}

/** What a request needs of the chats. */
export interface Asker {
  readonly engine: ContextEngine;
  readonly transport: ChatTransport<UIMessage>;
  readonly options: { readonly request?: PrepareRequest | undefined };
}

/** What a request is made from, and the key of the message that its answer follows; null for a first one. */
interface Asked extends Source {
  readonly messages: UIMessage[];
  readonly parentKey: string | null;
  readonly call?: Call | undefined;
}

/** Hands a request to the transport, without parts that providers refuse and as the app's `request` option changes it. */
export async function send(
  { engine, transport, options }: Asker,
  sent: SendOptions,
  plain: RequestNote,
  { systemPrompt, made, messages, parentKey, call }: Asked,
): Promise<Answer> {
  const { recording: desk } = engine;
  const recorder = desk && (await loadRecorder().catch(() => undefined));
  const of = { ...plain, systemPrompt, made, parentKey, call, mask: maskSecrets };
  const take = desk && recorder?.takeRequest(desk, of);
  const note: RequestNote = take ? { ...plain, tell: (told) => take.tell(told) } : plain;
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
  const ask = (own: SendOptions): Promise<Answer> => transport.sendMessages(own);
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
async function sendableOf(messages: UIMessage[]): Promise<UIMessage[]> {
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
async function wordsBefore({ engine, key, settled }: Turn): Promise<void> {
  const grows = (): boolean => {
    let at = engine.node(key)?.parentKey ?? null;
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

/** Requests and relays an answer. If that fails, the turn is ended and saved first. A stop never waits for the transport. */
export async function passOn(
  turn: Turn,
  signal: AbortSignal | undefined,
  ask: () => Answer | PromiseLike<Answer>,
  isReplay = false,
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
    return relay(answer, turn, isReplay);
  } catch (error) {
    await turn.end('failed');
    throw saidOf(error);
  }
}

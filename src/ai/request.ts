import type { UIMessage, UIMessageChunk } from 'ai';
import type { CallFacts } from '../engine/calls.ts';
import { isContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import type { Source } from '../record/recorder.ts';
import { maskSecrets } from '../secrets/maskSecrets.ts';
import type { RequestNote, SendOptions } from './contextChat.ts';
import { lazily, loadMore } from './load.ts';
import { keyOf, put, sameMessage, withId } from './list.ts';
import { hasWords } from './message.ts';
import type { BranchChat } from './branchChat.ts';
import { chatIdOf, copyIn, type ChatHost } from './host.ts';
import { asError } from './asError.ts';
import { Turn, type Call, type Named } from './turn.ts';

type Answer = ReadableStream<UIMessageChunk>;

/** Saves the turn that a request of the AI SDK asks for, and sends the request to the transport. */
export async function begin(chat: BranchChat, sent: SendOptions): Promise<Answer> {
  const { host } = chat;
  // A result that is just being given to a tool call is already in the list but not saved yet. The plan would take that message
  // for another version, so wait for the save. Do not wait for an answer that was taken up meanwhile: it may grow for long, and
  // the AI SDK could no longer stop it once another request has begun. `beginTurn()` refuses this request then.
  const ends = (): unknown => !chat.turn?.isOpen && chat.settled();
  do await Promise.allSettled([ends(), ...chat.writes, ...host.writes]);
  while (chat.writes.size + host.writes.size > 0);
  const turn = await beginTurn(chat, sent);
  // Without this code, the point at which an answer is continued is not kept, and its words are not joined there.
  const more = turn.answer && (await loadMore().catch(() => undefined));
  const cut = turn.read() ?? turn.answer;
  chat.asShown = (message) => (host.isOwn && more?.joinAt(message, cut)) || message;
  if (turn.answer) await more?.keepPlace(turn.engine, turn.key, turn.answer);
  return passOn(turn, sent.abortSignal, () => ask(host, turn, { ...sent, chatId: chatIdOf(host) }));
}

/** Saves the turn that a list asks for, on a new branch where the list differs from its branch, and moves the chat there. */
export async function beginTurn(chat: BranchChat, named: Named, given?: readonly UIMessage[]): Promise<Turn> {
  const { engine, host, list } = chat;
  const asked = given ?? withOwnIds(list);
  const branchId = branchOf(chat);
  // The branch that its own one merged with may have a chat: they change places, and each branch has one.
  for (const other of host.all())
    if (other !== chat && other.branchId === branchId) other.branchId = chat.branchId;
  chat.branchId = branchId;
  try {
    const turn = new Turn(chat, asked, named);
    chat.forkId = turn.forkId;
    // Another tab shows the left questions, too, and may ask them now.
    await (chat.opening = turn.save(chat.queue?.hasPlaced));
    chat.branchId = turn.branchId;
    refreshCopy(chat, turn.answer, asked);
    chat.queue?.followed();
    const stop = engine.subscribe((event) => {
      const isOwn = event.type === 'branch' && event.action === 'delete' && event.id === turn.branchId;
      // The answer was deleted with its branch.
      if (isOwn && engine.siblings(turn.key).index === -1) void chat.leave();
    });
    void turn.settled.then(() => (stop(), chat.moved()));
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
  } finally {
    chat.forkId = '';
  }
}

/** Gives the AI SDK's copy of a continued answer what another tab has saved in it meanwhile. */
function refreshCopy(chat: BranchChat, answer: UIMessage | undefined, asked: readonly UIMessage[]): void {
  const [copy, was] = [copyIn(chat), withId(asked, answer?.id)];
  if (answer && was && copy?.id === answer.id && !sameMessage(answer, was))
    copy.parts = answer.parts.map((part) => ({ ...part }));
}

/** The branch that a turn goes to: that of its chat, or where a join merged it, the one that holds the chat's messages. */
function branchOf({ engine, branchId, list }: BranchChat): string {
  const { branches, branchId: active } = engine.state.getState();
  if (branchId === undefined) return active;
  const last = list.saved.at(-1);
  if (!last || branches.some(({ id }) => id === branchId)) return branchId;
  return engine.branchHolding(keyOf(engine, last.id, branchId) ?? '') ?? branchId;
}

/** The list with unique ids, and each message once. */
function withOwnIds(list: BranchChat['list']): readonly UIMessage[] {
  const seen = new Map<string, UIMessage>();
  list.now = list.now.flatMap((message) => {
    const other = seen.get(message.id);
    if (!other) seen.set(message.id, message);
    else if (sameMessage(other, message)) return [];
    return other ? { ...message, id: createId() } : message;
  });
  return list.now;
}

/** Sends the request of a turn as soon as all that the model is to read is saved. */
async function ask(host: ChatHost, turn: Turn, sent: SendOptions): Promise<Answer> {
  const { branchId, call, engine, id: answerId, key: answerKey } = turn;
  await wordsBefore(turn);
  await Promise.allSettled(host.writes);
  sent.abortSignal?.throwIfAborted();
  const source = await engine.resolve({ at: answerKey, signal: sent.abortSignal });
  // A reserved answer is not among the versions yet: then all of them are earlier.
  const { index, keys } = engine.siblings(answerKey);
  const attempt = index >= 0 ? index : keys.length;
  const branch = engine.state.getState().branches.find(({ id }) => id === branchId)?.name ?? engine.branch;
  const note: RequestNote = { branch, branchId, answerId, answerKey, attempt };
  const parentKey = engine.node(answerKey)?.parentKey ?? null;
  return send(host, sent, note, { ...source, parentKey, call });
}

/** What a request is made from, and the key of the message that its answer follows; null for a first one. */
interface Asked extends Source {
  readonly messages: UIMessage[];
  readonly parentKey: string | null;
  readonly call?: Call | undefined;
}

/** Hands a request to the transport, without parts that providers refuse and as the app's `request` option changes it. */
export async function send(
  { engine, transport, options }: ChatHost,
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
  const { metadata = {} } = sent;
  const isRecord = typeof metadata === 'object' && !Array.isArray(metadata);
  return { ...sent, metadata: isRecord ? { ...metadata, contextree: note } : metadata };
}

/** The messages without parts that providers refuse; a single question needs no check. */
async function sendableOf(messages: UIMessage[]): Promise<UIMessage[]> {
  return messages.every(isPlain) ? messages : (await loadMore()).toSendable(messages);
}

function isPlain(message: UIMessage): boolean {
  return (
    message.role === 'user' &&
    hasWords(message) &&
    message.parts.every(({ type }) => /^(text|file)$/.test(type))
  );
}

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
  const call: Call = (turn.call = { startedAt: Date.now(), steps: 0 });
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
      (await loadMore()).refuseStream(answer);
    return new ReadableStream(new Relay(answer, turn, call, isReplay), { highWaterMark: 0 });
  } catch (error) {
    await turn.end('failed');
    throw asError(error);
  }
}

/**
 * Passes an answer from a transport to a chat, saves it on the way, and learns what the call was.
 *
 * A chunk is requested when the one before it is in the chat's list, so the turn saves what the person sees, and the stream
 * closes only after the answer is saved: a chat that says `ready` has nothing left to lose.
 *
 * A stream that closes without a word and without a finish has failed: the response was a login page, an error as JSON, or
 * empty. A server that repeats an answer (`isReplay`) may have nothing more to say.
 */
class Relay implements UnderlyingDefaultSource<UIMessageChunk> {
  readonly #reader: ReadableStreamDefaultReader<UIMessageChunk>;
  readonly #turn: Turn;
  readonly #call: Call;
  readonly #isReplay: boolean;
  /** The first chunks of the answer, held back until one has content: the bubble appears together with its first word. */
  #opening: UIMessageChunk[] | undefined = [];
  /** The kind of the last chunk. */
  #last = '';
  /** The last usage that the answer's metadata reported. */
  #usage: Readonly<Record<string, unknown>> | undefined;
  readonly #tools: Map<string, { readonly at: number; ms: number | null }> = new Map();
  /** How the answer says that it ended: with its finish, an abort or an error. */
  #end: CallFacts['status'] | undefined;

  constructor(source: Answer, turn: Turn, call: Call, isReplay: boolean) {
    this.#reader = source.getReader();
    this.#turn = turn;
    this.#call = call;
    this.#isReplay = isReplay;
  }

  async pull(controller: ReadableStreamDefaultController<UIMessageChunk>): Promise<void> {
    try {
      await this.#next(controller);
    } catch (error) {
      await this.#stop('failed', error);
      controller.error(asError(error));
    }
  }

  /** The AI SDK cancels the stream after an error chunk. */
  cancel(reason: unknown): Promise<void> {
    return this.#stop(this.#end === 'failed' ? 'failed' : 'stopped', reason);
  }

  #stop(how: 'stopped' | 'failed', reason: unknown): Promise<void> {
    // The reader may have failed, and not the source.
    this.#reader.cancel(reason).catch(() => {});
    return this.#turn.end(how, this.#usage);
  }

  async #next(controller: ReadableStreamDefaultController<UIMessageChunk>): Promise<void> {
    if (SAVE_POINTS.test(this.#last)) void this.#turn.savePoint();
    else this.#turn.draft();
    for (let chunks: readonly UIMessageChunk[] = []; chunks.length === 0;) {
      const { done, value } = await this.#reader.read();
      if (done) {
        await this.#turn.end(this.#status(), this.#usage);
        if (!this.#isReplay && this.#opening && !this.#end) throw new Error(NO_ANSWER);
        return controller.close();
      }
      this.#learn(value);
      chunks = this.#pass(value);
      for (const chunk of chunks) controller.enqueue(chunk);
    }
  }

  /** The chunks to pass on for one that came in. */
  #pass(chunk: UIMessageChunk): UIMessageChunk[] {
    const { type } = chunk;
    if (type === 'error') return [chunk];
    const named = type === 'start' ? { ...chunk, messageId: this.#turn.name(chunk.messageId) } : chunk;
    const held = this.#opening;
    if (!held) return [named];
    held.push(named);
    if (isSilent(chunk)) return [];
    this.#opening = undefined;
    this.#call.firstMs = Date.now() - this.#call.startedAt;
    const isStarted = held.some((one) => one.type === 'start');
    return isStarted ? held : [{ type: 'start', messageId: this.#turn.name(undefined) }, ...held];
  }

  /** How a closed stream ended. Without a finish, an answer with steps, an open text or no word was cut off. */
  #status(): CallFacts['status'] {
    const isWhole = !this.#opening && this.#call.steps === 0 && !this.#isOpen();
    return this.#end ?? (isWhole ? 'complete' : 'failed');
  }

  /** Whether the answer, as far as it was read, ends in the middle of a text. */
  #isOpen(): boolean {
    const last = this.#turn.read()?.parts.at(-1);
    return last !== undefined && 'state' in last && last.state === 'streaming';
  }

  #learn(chunk: UIMessageChunk): void {
    const { type } = chunk;
    this.#last = type;
    if ('messageMetadata' in chunk) this.#usage = usageIn(chunk.messageMetadata) ?? this.#usage;
    if (type === 'start-step') this.#call.steps += 1;
    if ('toolCallId' in chunk) this.#timeTool(chunk);
    if (type === 'error') this.#end = 'failed';
    if (type === 'abort') this.#end = 'stopped';
    if (type !== 'finish') return;
    const reason: string | undefined = chunk.finishReason;
    if (reason !== undefined) this.#call.finishReason = reason;
    // A finish without a known reason in the middle of a text is a lost connection to the model.
    const isCut = (reason === 'other' || reason === 'unknown') && this.#isOpen();
    this.#end ??= isCut || reason === 'error' || reason === 'interrupted' ? 'failed' : 'complete';
  }

  /** Measures a tool from its input to its output; a later output replaces a preliminary one. */
  #timeTool({ type, toolCallId }: { readonly type: string; readonly toolCallId: string }): void {
    const tool = this.#tools.get(toolCallId);
    if (!tool && /^tool-input-(available|error)$/.test(type))
      this.#tools.set(toolCallId, { at: Date.now(), ms: null });
    if (tool && type.startsWith('tool-output-')) tool.ms = Date.now() - tool.at;
    if (this.#tools.size > 0) this.#call.toolMs = Array.from(this.#tools.values(), ({ ms }) => ms);
  }
}

const NO_ANSWER =
  'There was no answer: the endpoint sent nothing that can be read as one. Try again, or check its address.';

/** The chunks that close a step or ask for something: the words are saved durably. */
const SAVE_POINTS = /^(finish-step|tool-input-available|tool-approval-request)$/;

/** Whether a chunk opens an answer without showing anything. */
function isSilent(chunk: UIMessageChunk): boolean {
  if (chunk.type === 'start') return chunk.messageMetadata === undefined;
  return chunk.type === 'start-step' || chunk.type === 'text-start';
}

function usageIn(metadata: unknown): Readonly<Record<string, unknown>> | undefined {
  const { usage } = Object(metadata) as { usage?: unknown };
  return typeof usage === 'object' && usage !== null ? (usage as Record<string, unknown>) : undefined;
}

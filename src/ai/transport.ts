import { readUIMessageStream, type ChatTransport, type UIMessage, type UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { createId } from '../fragment/id.ts';
import { planTurn, type TurnPlan } from './plan.ts';
import { toSendable } from './prompt.ts';
import { relay } from './relay.ts';
import { keepMessage, Turn, type TurnOptions } from './turn.ts';

/** A request as the AI SDK's `Chat` makes it. */
export type SendOptions<M extends UIMessage> = Parameters<ChatTransport<M>['sendMessages']>[0];

/** A request with everything known that goes into it, before it goes out. */
export interface ResolvedRequest<M extends UIMessage = UIMessage> {
  readonly chatId: string;
  /** The branch that the answer will grow on: its name. */
  readonly branch: string;
  readonly branchId: string;
  /** The id of the answer. */
  readonly answerId: string;
  /** How many versions of this answer there are already: 0 for a first one. */
  readonly attempt: number;
  /** The rendered fragments; '' where there are none. */
  readonly systemPrompt: string;
  /** The conversation, oldest first, without what a provider would refuse. */
  readonly messages: M[];
  readonly trigger: SendOptions<M>['trigger'];
  /** The message that the app named: the answer to try again, say. */
  readonly messageId: string | undefined;
  readonly body: object | undefined;
  readonly headers: SendOptions<M>['headers'];
  readonly metadata: unknown;
  readonly abortSignal: AbortSignal | undefined;
}

/** What to send instead of what is sent by default; what is left out stays as it is. */
export interface RequestParts<M extends UIMessage = UIMessage> {
  /** Default: the app's own body with `system`, the system prompt. */
  readonly body?: object | undefined;
  /** Default: the conversation. */
  readonly messages?: M[] | undefined;
  readonly headers?: SendOptions<M>['headers'] | undefined;
}

/** Makes a request its own. */
export type PrepareRequest<M extends UIMessage = UIMessage> = (
  request: ResolvedRequest<M>,
) => RequestParts<M> | PromiseLike<RequestParts<M>>;

/**
 * What stands under `contextree` in the metadata of each request. Transports see it (`requestMetadata` in
 * `prepareSendMessagesRequest`); nothing of it goes over HTTP by itself.
 */
export type RequestNote = Pick<ResolvedRequest, 'branch' | 'branchId' | 'answerId' | 'attempt'>;

/** How {@link withContext} asks. */
export interface WithContextOptions<M extends UIMessage = UIMessage> {
  /** The branch that turns go to, by name or id. Default: the one that is active when a request is made. */
  readonly branch?: string | undefined;
  /** Changes what goes out. */
  readonly request?: PrepareRequest<M> | undefined;
}

/**
 * A transport that keeps what passes: each turn is saved before it is sent, each answer while it grows, and what is
 * sent is the resolved context of its branch, `system` and `messages`.
 *
 * For apps that keep a `Chat` of their own; `useContextChat` does this and more. A list that differs from what is
 * saved forks, as `planTurn` has it. Such a chat does not follow when the branch moves: give it `state.messages` then.
 */
export function withContext<M extends UIMessage>(
  transport: ChatTransport<M>,
  engine: ContextEngine,
  options: WithContextOptions<M> = {},
): ChatTransport<M> {
  const names = new Names<M>();
  return {
    get resumeStreamIsReplay() {
      return transport.resumeStreamIsReplay ?? false;
    },
    close: () => transport.close?.(),
    sendMessages: async (sent) => {
      await engine.ready();
      const branchId = idOfBranch(engine, options.branch);
      const list = names.stored(sent.messages);
      const saved = (await savedOn(engine, branchId)) as M[];
      const plan = planTurn(list, sameWindow(list, saved), names.of(sent.messageId));
      const { id, branchId: landed, fresh } = await openTurn(engine, plan, { branchId });
      names.rename(plan.fresh, fresh);
      if (plan.answer) names.rename([plan.answer], [{ ...plan.answer, id }]);
      const answer = accumulate(plan.answer && { ...plan.answer, id });
      const turn = new Turn<M>({ engine, id, branchId: landed, ...answer });
      return request(turn, transport, sent, options.request);
    },
    reconnectToStream: (sent) => transport.reconnectToStream({ ...sent, chatId: engine.chatId }),
  };
}

function idOfBranch(engine: ContextEngine, branch: string | undefined): string {
  const { branches, branchId } = engine.state.getState();
  return branches.find(({ id, name }) => id === branch || name === branch)?.id ?? branch ?? branchId;
}

async function savedOn(engine: ContextEngine, branchId: string): Promise<UIMessage[]> {
  const head = engine.state.getState().branches.find(({ id }) => id === branchId)?.headMessageId;
  return head ? (await engine.resolve({ at: head })).messages : [];
}

/** A chat may hold only the end of a conversation: what is saved from there on. */
function sameWindow<M extends UIMessage>(list: readonly M[], saved: readonly M[]): readonly M[] {
  const from = saved.findIndex(({ id }) => id === list[0]?.id);
  return saved.slice(Math.max(0, from));
}

/** Which messages of a chat that we can't change are stored under another id than their own. */
class Names<M extends UIMessage> {
  readonly #stored: WeakMap<M, string> = new WeakMap();
  readonly #byId: Map<string, string> = new Map();

  stored(list: readonly M[]): M[] {
    return list.map((message) => {
      const id = this.#stored.get(message);
      return id === undefined ? message : { ...message, id };
    });
  }

  of(id: string | undefined): string | undefined {
    return id === undefined ? undefined : (this.#byId.get(id) ?? id);
  }

  rename(before: readonly M[], after: readonly M[]): void {
    before.forEach((message, i) => {
      const id = after[i]?.id;
      if (id === undefined || id === message.id) return;
      this.#stored.set(message, id);
      this.#byId.set(message.id, id);
    });
  }
}

/** An answer put together from its parts, beside the chat that shows it. */
function accumulate<M extends UIMessage>(
  begun: M | undefined,
): Pick<TurnOptions<M>, 'read' | 'take' | 'flush'> {
  let message = begun;
  const { readable, writable } = new TransformStream<UIMessageChunk, UIMessageChunk>();
  const writer = writable.getWriter();
  const words = readUIMessageStream<M>({
    stream: readable,
    ...(begun ? { message: structuredClone(begun) } : {}),
  });
  const read = async (): Promise<void> => {
    for await (const next of words) message = next;
  };
  // A malformed chunk ends the reading; the chat that reads it too says so. What came before it is kept.
  const reading = read().catch(() => {});
  return {
    read: () => message,
    take: (chunk) => {
      if (chunk.type !== 'error') writer.write(chunk).catch(() => {});
    },
    flush: () => {
      writer.close().catch(() => {});
      return reading;
    },
  };
}

/** Where a planned turn goes. */
export interface Place {
  readonly branchId: string;
  /** The id of the branch, should the turn need one of its own. */
  readonly forkId?: string;
}

/** A turn that is saved, and whose answer may begin. */
export interface OpenedTurn<M extends UIMessage> {
  /** The node of the answer. */
  readonly id: string;
  /** The branch that the turn is on: the fork, if it needed one. */
  readonly branchId: string;
  /** The fresh messages as they are saved: with ids of their own, where theirs were taken. */
  readonly fresh: readonly M[];
}

/** Saves what a plan asks for, and reserves the answer, or opens the one that goes on. */
export async function openTurn<M extends UIMessage>(
  engine: ContextEngine,
  plan: TurnPlan<M>,
  { branchId, forkId = createId() }: Place,
): Promise<OpenedTurn<M>> {
  const { kept, answer } = plan;
  if (answer && plan.inPlace) {
    await keepMessage(engine, answer.id, answer, 'streaming');
    return { id: answer.id, branchId, fresh: [] };
  }
  const isTaken = (id: string): boolean => engine.node(id) !== undefined;
  const fresh = plan.fresh.map((message) => (isTaken(message.id) ? { ...message, id: createId() } : message));
  const parentId = kept.at(-1)?.id ?? null;
  const id = answer && !isTaken(answer.id) ? answer.id : createId();
  const where = { branch: branchId, forkId, id };
  if (fresh.length > 0) await engine.continue(fresh, { ...where, parentId });
  else await engine.continue(kept.slice(-1), where);
  if (answer) await keepMessage(engine, id, { ...answer, id }, 'streaming');
  const isFork = engine.state.getState().branches.some((branch) => branch.id === forkId);
  return { id, branchId: isFork ? forkId : branchId, fresh };
}

/** Sends a request for an opened turn, and lets its answer pass. */
export function request<M extends UIMessage>(
  turn: Turn<M>,
  transport: ChatTransport<M>,
  sent: SendOptions<M>,
  prepare?: PrepareRequest<M>,
): Promise<ReadableStream<UIMessageChunk>> {
  return passOn(turn, sent.abortSignal, async () => {
    const prepared = await prepareRequest(turn, sent, prepare);
    sent.abortSignal?.throwIfAborted();
    return transport.sendMessages(prepared);
  });
}

/**
 * Lets an answer pass. However asking for it fails, the turn has ended, and what there was of the answer is saved,
 * before the failure is told. Stopping never waits for a transport that does not listen.
 */
export async function passOn<M extends UIMessage>(
  turn: Turn<M>,
  signal: AbortSignal | undefined,
  ask: () => ReadableStream<UIMessageChunk> | PromiseLike<ReadableStream<UIMessageChunk>>,
): Promise<ReadableStream<UIMessageChunk>> {
  signal?.addEventListener('abort', () => void turn.end('interrupted'), { once: true });
  try {
    signal?.throwIfAborted();
    return relay(await untilAborted(async () => ask(), signal), turn);
  } catch (error) {
    await turn.end('interrupted');
    throw error;
  }
}

async function prepareRequest<M extends UIMessage>(
  turn: Turn<M>,
  sent: SendOptions<M>,
  prepare: PrepareRequest<M> | undefined,
): Promise<SendOptions<M>> {
  const { engine, id, branchId } = turn;
  const { abortSignal } = sent;
  const { systemPrompt, messages } = await engine.resolve({ at: id, signal: abortSignal });
  const branch = engine.state.getState().branches.find((one) => one.id === branchId)?.name ?? engine.branch;
  const note: RequestNote = { branch, branchId, answerId: id, attempt: attemptOf(engine, id) };
  const resolved: ResolvedRequest<M> = {
    ...note,
    chatId: engine.chatId,
    systemPrompt,
    messages: toSendable(messages as M[]),
    trigger: sent.trigger,
    messageId: sent.messageId,
    body: sent.body,
    headers: sent.headers,
    metadata: sent.metadata,
    abortSignal,
  };
  const parts = await prepare?.(resolved);
  const headers = parts?.headers ?? sent.headers;
  return {
    ...sent,
    ...(headers ? { headers } : {}),
    messages: parts?.messages ?? resolved.messages,
    body: parts?.body ?? { ...sent.body, system: systemPrompt },
    metadata: withNote(sent.metadata, note),
  };
}

/** How many versions stand before an answer. A reserved one is not counted among them yet: then all that there are. */
function attemptOf(engine: ContextEngine, id: string): number {
  const { index, ids } = engine.siblings(id);
  return index === -1 ? ids.length : index;
}

function withNote(metadata: unknown, note: RequestNote): unknown {
  if (typeof metadata !== 'object' || Array.isArray(metadata)) return metadata ?? { contextree: note };
  return { ...metadata, contextree: note };
}

/** Rejects as soon as the signal says so; a stream that comes later is let go. */
async function untilAborted(
  ask: () => Promise<ReadableStream<UIMessageChunk>>,
  signal: AbortSignal | undefined,
): Promise<ReadableStream<UIMessageChunk>> {
  const opening = ask();
  if (!signal) return opening;
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  try {
    return await Promise.race([opening, aborted]);
  } catch (error) {
    opening.then((late) => late.cancel()).catch(() => {});
    throw error;
  }
}

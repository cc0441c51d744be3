import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { ContextError, isContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import { isVisible } from '../graph/graph.ts';
import { longer } from './goingOn.ts';
import { headOf } from './list.ts';
import type { Saved, TurnPlan } from './plan.ts';
import { toSendable } from './sendable.ts';
import { isToolPart, isWaiting } from './toolPart.ts';
import { relay, type Passing } from './relay.ts';
import { keepPlace } from './replay.ts';
import { expectStream, saidOf } from './said.ts';
import { asJson, growsHere, keepMessage, type Turn } from './turn.ts';

/** A request as the AI SDK's `Chat` makes it. */
export type SendOptions<M extends UIMessage> = Parameters<ChatTransport<M>['sendMessages']>[0];

/**
 * What stands under `contextree` in the metadata of each request. Transports see it (`requestMetadata` in
 * `prepareSendMessagesRequest`); nothing of it goes over HTTP by itself. That of a reconnect
 * (`prepareReconnectToStreamRequest`) has `branch`, `branchId`, and the `answerId` that is waited for, where there is one.
 */
export interface RequestNote {
  /** The branch that the answer grows on: its name, or where it is made with the first word, that of the one before. */
  readonly branch: string;
  readonly branchId: string;
  /** The id of the answer. */
  readonly answerId: string;
  /** How many versions of this answer there are already: 0 for a first one. */
  readonly attempt: number;
}

/** A request with everything known that goes into it, before it goes out: the app's own, and what is resolved. */
export type ResolvedRequest<M extends UIMessage = UIMessage> = RequestNote &
  Omit<SendOptions<M>, 'messages'> & {
    /** The rendered fragments; '' where there are none. */
    readonly systemPrompt: string;
    /** The conversation, oldest first, without what a provider would refuse. */
    readonly messages: M[];
  };

/** What to send instead of what is sent by default; what is left out stays as it is. */
export interface RequestParts<M extends UIMessage = UIMessage> {
  /** Default: the app's own body, with the system prompt as `system` where there is one. */
  readonly body?: object;
  /** Default: the conversation. */
  readonly messages?: M[];
  readonly headers?: NonNullable<SendOptions<M>['headers']>;
}

/** Makes a request its own. */
export type PrepareRequest<M extends UIMessage = UIMessage> = (
  request: ResolvedRequest<M>,
) => RequestParts<M> | PromiseLike<RequestParts<M>>;

/**
 * What an engine knows to be saved, for a list that may hold only the end of a conversation: `isFirst` tells whether
 * it may begin with a message. Words that are known to be saved need not be compared.
 */
export function savedIn<M extends UIMessage>(
  engine: ContextEngine,
  branchId: string | undefined,
  isFirst: (id: string) => boolean,
  known: { has(message: M): boolean },
): Saved<M> {
  return {
    head: headOf(engine, branchId),
    has: ({ id }) => engine.node(id) !== undefined,
    isAt: ({ id }, previous) => {
      const node = engine.node(id);
      const before = [node?.parentId ?? null, shownBefore(engine, id)];
      return node !== undefined && (before.includes(previous?.id ?? null) || (!previous && isFirst(id)));
    },
    isSame: (message) =>
      known.has(message) || engine.matches(message) !== false || engine.matches(asJson(message)) !== false,
  };
}

/**
 * The message that a list shows before another one; null where there is none. An answer that is not shown stands between:
 * one that grows in another tab, and that somebody went on behind.
 */
function shownBefore(engine: ContextEngine, id: string): string | null {
  const before = engine.node(id)?.parentId ?? null;
  const node = engine.node(before ?? '');
  return node && !isVisible(node) ? shownBefore(engine, node.id) : before;
}

/** Where a planned turn goes. */
export interface Place {
  readonly branchId: string;
  /** The id of the branch, should the turn need one of its own. */
  readonly forkId?: string;
  /** The id of a new answer, where one was reserved for it before. */
  readonly answerId?: string | undefined;
  /** Whether another tab may be saving this very turn at this moment. */
  readonly isSole?: boolean | undefined;
}

/** A turn that is saved, and whose answer may begin. */
export interface OpenedTurn<M extends UIMessage> {
  /** The node of the answer. */
  readonly id: string;
  /** The branch that the turn is on: the fork, if it needed one. */
  readonly branchId: string;
  /** The answer that goes on, as it is saved. */
  readonly answer: M | undefined;
  /** Whether that answer was complete, and not about to say what it makes of a tool's result. */
  readonly isWhole: boolean;
  /** The conversation up to it, as it is saved, oldest first; undefined where the turn changes nothing of it. */
  readonly before?: readonly M[] | undefined;
  /** Messages of the plan that are saved as others: their ids were taken, they held what no JSON can, or said less. */
  readonly renamed: ReadonlyMap<M, M>;
  /** Of a version that is not made yet: what makes it. */
  readonly version?: Version<M> | undefined;
}

/**
 * A version of an answer that is saved, before it says more than that. Nothing of it is written, so that nothing is left
 * of it if it never does: of a request that is stopped or fails, or whose page is gone.
 */
export interface Version<M extends UIMessage, Opened = OpenedTurn<M>> {
  /** The id of the answer that it is made from. */
  readonly of: string;
  /** The branch that it will be on. */
  readonly forkId: string;
  /** Lets other tabs go on with that answer again. */
  readonly release: () => void;
  /** Writes it, and opens it; `from` is the answer that it is made from, as it is by then, if that is still shown. */
  make(from: M | undefined): Promise<Opened>;
}

/** Saves what a plan asks for, and reserves the answer, or opens the one that goes on. */
export async function openTurn<M extends UIMessage>(
  engine: ContextEngine,
  plan: TurnPlan<M>,
  place: Place,
): Promise<OpenedTurn<M>> {
  return plan.isVersion ? announced(engine, plan, place) : written(engine, plan, place);
}

async function announced<M extends UIMessage>(
  engine: ContextEngine,
  plan: TurnPlan<M>,
  { branchId, forkId = createId() }: Place,
): Promise<OpenedTurn<M>> {
  const id = createId();
  const of = plan.answer as M;
  const other = [of.id, ...versionsElsewhere(engine, of.id)].find(
    (one) => engine.status(one) === 'streaming',
  );
  if (other !== undefined) throw stillGrowing(other);
  const release = await claim(engine, of.id);
  const make = async (from = of): Promise<OpenedTurn<M>> => {
    // Another tab may have been asked for the same, and its first word came before this one.
    const place = { branchId, forkId, answerId: id, isSole: true };
    const opened = await written(engine, { ...plan, answer: from }, place);
    await keepPlace(engine, opened.answer as M);
    return opened;
  };
  const answer = { ...of, id };
  const version = { of: of.id, forkId, release, make };
  return { id, branchId, answer, isWhole: false, renamed: new Map(), version };
}

/**
 * Says to other tabs that an answer is asked for more, before there is a word of it: two requests would cost twice, and one of
 * their answers be thrown away. It saves that only; which of two is kept is decided where they are written.
 */
async function claim(engine: ContextEngine, id: string): Promise<() => void> {
  const { store, chatId } = engine;
  const own = { name: `more:${id}` };
  const claims = claimed.get(engine) ?? new Set();
  claimed.set(engine, claims);
  const held = await store.held(chatId).catch(() => new Set<string>());
  if (held.has(own.name) && ![...claims].some(({ name }) => name === own.name)) throw stillGrowing(id);
  claims.add(own);
  const release = await store.hold(chatId, own.name).catch(() => () => {});
  return () => {
    release();
    // A lock that was let go of a moment ago may still be told of.
    setTimeout(() => claims.delete(own), 1000);
  };
}

/** What this page asks for more of, or did a moment ago. */
const claimed: WeakMap<ContextEngine, Set<{ readonly name: string }>> = new WeakMap();

/** The versions of an answer that are not of this page. */
function versionsElsewhere(engine: ContextEngine, id: string): string[] {
  const parentId = engine.node(id)?.parentId;
  return engine
    .graph()
    .nodes.flatMap((node) => (node.parentId === parentId && !growsHere(engine, node.id) ? node.id : []));
}

async function written<M extends UIMessage>(
  engine: ContextEngine,
  { kept, fresh, answer, inPlace, isVersion }: TurnPlan<M>,
  { branchId, forkId = createId(), answerId = createId(), isSole }: Place,
): Promise<OpenedTurn<M>> {
  const renamed = new Map<M, M>();
  const taken = new Set<string>();
  const ownId = (message: M, other = createId()): M => {
    const isTaken = taken.has(message.id) || engine.node(message.id);
    taken.add(message.id);
    if (!isTaken) return message;
    const own = { ...message, id: other };
    renamed.set(message, own);
    return own;
  };
  let begun = answer && !inPlace ? ownId(answer, isVersion ? answerId : undefined) : answer;
  const id = begun?.id ?? answerId;
  let added = fresh.map((message) => ownId(message));
  const isWhole = inPlace && engine.status(id) === 'complete' && !isResult(answer?.parts.at(-1));
  if (!inPlace) {
    // Where nobody has said anything, the assistant begins.
    const turn = added.length > 0 || begun ? added : kept.slice(-1);
    const parent = turn === added || turn.length === 0 ? { parentId: kept.at(-1)?.id ?? null } : {};
    const options = { branch: branchId, forkId, id, ...parent, answer: begun && asJson(begun), isSole };
    await engine.continue(turn, options).catch((error: unknown) => {
      if (added.length === 0 || !isContextError(error, 'invalid-messages')) throw error;
      // A function in a question's metadata reaches no server either; the words do.
      added = added.map(asJson);
      for (const [i, message] of added.entries()) renamed.set(fresh[i] as M, message);
      return engine.continue(added, options);
    });
  }
  if (begun && inPlace) {
    begun = await beginAgain(engine, begun);
    if (begun !== answer) renamed.set(answer as M, begun);
  }
  return {
    id,
    branchId: landing(engine, forkId, branchId),
    answer: begun,
    isWhole,
    before: inPlace ? undefined : [...kept, ...added],
    renamed,
  };
}

/**
 * Lets an answer grow again: in one chat, though others of the same engine may show it. Gives it as it is by then: another
 * tab may have answered a call in it, and no list here shows that while it is busy, or its branch is not shown.
 */
async function beginAgain<M extends UIMessage>(engine: ContextEngine, answer: M): Promise<M> {
  const { id } = answer;
  const ids = beginning.get(engine) ?? new Set();
  beginning.set(engine, ids);
  if (ids.has(id) || engine.status(id) === 'streaming') throw stillGrowing(id);
  ids.add(id);
  let begun = answer;
  const known = (saved: UIMessage): M => (begun = longer(saved as M, answer));
  await keepMessage(engine, id, known, 'streaming').finally(() => ids.delete(id));
  return begun;
}

/** The answers that are about to grow again. */
const beginning: WeakMap<ContextEngine, Set<string>> = new WeakMap();

function isResult(part: UIMessage['parts'][number] | undefined): boolean {
  return part !== undefined && isToolPart(part) && !isWaiting(part);
}

/** Where a turn went: to the branch made for it, to the one that it was meant for, or to the `main` of another tab. */
function landing(engine: ContextEngine, forkId: string, branchId: string): string {
  const { branches, branchId: active } = engine.state.getState();
  return [forkId, branchId].find((id) => branches.some((branch) => branch.id === id)) ?? active;
}

function stillGrowing(id: string): ContextError {
  return new ContextError('busy', 'This answer is still growing. Wait for it, or stop it first.', {
    details: { id },
  });
}

/**
 * Sends a request for an opened turn, and lets its answer pass. Where the turn hangs on an answer that grows again in
 * another tab, the question is saved, and asked when that one is whole: the model is told of all of it.
 */
export function request<M extends UIMessage>(
  turn: Turn<M>,
  transport: ChatTransport<M>,
  sent: SendOptions<M>,
  prepare?: PrepareRequest<M>,
): Promise<ReadableStream<UIMessageChunk>> {
  const ask = async (): Promise<ReadableStream<UIMessageChunk>> => {
    const { engine, answer, version } = turn.options;
    if (answer && !version) await keepPlace(engine, answer);
    await wordsBefore(turn);
    sent.abortSignal?.throwIfAborted();
    const prepared = await prepareRequest(turn, sent, prepare);
    sent.abortSignal?.throwIfAborted();
    return transport.sendMessages(prepared);
  };
  return passOn(turn, sent.abortSignal, ask, { mustSpeak: true });
}

/** Waits until nothing grows any more that a turn hangs on, or the turn has ended. */
async function wordsBefore<M extends UIMessage>({ options, settled }: Turn<M>): Promise<void> {
  const { engine } = options;
  const id = savedId(options);
  if (!growsBefore(engine, id)) return;
  await new Promise<void>((resolve) => {
    const end = (): void => {
      unsubscribe();
      resolve();
    };
    const unsubscribe = engine.state.subscribe(() => {
      if (!growsBefore(engine, id)) end();
    });
    void settled.then(end);
  });
}

function growsBefore(engine: ContextEngine, id: string): boolean {
  let at = engine.node(id)?.parentId ?? null;
  while (at !== null && engine.status(at) !== 'streaming') at = engine.node(at)?.parentId ?? null;
  return at !== null;
}

/**
 * Lets an answer pass. However asking for it fails, the turn has ended, and what there was of the answer is saved,
 * before the failure is told. Stopping never waits for a transport that does not listen.
 */
export async function passOn<M extends UIMessage>(
  turn: Turn<M>,
  signal: AbortSignal | undefined,
  ask: () => ReadableStream<UIMessageChunk> | PromiseLike<ReadableStream<UIMessageChunk>>,
  passing: Passing = {},
): Promise<ReadableStream<UIMessageChunk>> {
  const aborted = new Promise<never>((_resolve, reject) => {
    const abort = (): void => {
      void turn.end('interrupted');
      reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', abort, { once: true });
  });
  try {
    signal?.throwIfAborted();
    const stream = Promise.resolve(ask());
    stream.then((late) => (signal?.aborted ? late.cancel() : undefined)).catch(() => {});
    const answer = await Promise.race([stream, aborted]);
    expectStream(answer);
    return relay(answer, turn, passing);
  } catch (error) {
    await turn.end('interrupted');
    throw saidOf(error);
  }
}

async function prepareRequest<M extends UIMessage>(
  turn: Turn<M>,
  sent: SendOptions<M>,
  prepare: PrepareRequest<M> | undefined,
): Promise<SendOptions<M>> {
  const { engine, id, branchId, version } = turn.options;
  const { abortSignal } = sent;
  const { systemPrompt, messages } = await engine.resolve({ at: savedId(turn.options), signal: abortSignal });
  const branch = engine.state.getState().branches.find((one) => one.id === branchId)?.name ?? engine.branch;
  const note: RequestNote = {
    branch,
    branchId: version?.forkId ?? branchId,
    answerId: id,
    attempt: version ? engine.siblings(version.of).ids.length : attemptOf(engine, id),
  };
  const resolved = { ...sent, ...note, systemPrompt, messages: await toSendable(messages as M[]) };
  const parts = await prepare?.(resolved);
  return {
    ...withNote(sent, note),
    messages: resolved.messages,
    // Without a prompt of ours an app's own stays, and its server gets what it always got.
    ...(systemPrompt && { body: { ...sent.body, system: systemPrompt } }),
    ...parts,
  };
}

/** What is saved of an answer: of a version that is not made yet, what it is made from. */
function savedId<M extends UIMessage>({ id, version }: Turn<M>['options']): string {
  return version?.of ?? id;
}

/** How many versions stand before an answer. A reserved one is not counted among them yet: then all that there are. */
function attemptOf(engine: ContextEngine, id: string): number {
  const { index, ids } = engine.siblings(id);
  return index === -1 ? ids.length : index;
}

/** What is sent, with a note in its metadata; metadata that can hold none stay as they are. */
export function withNote<T extends { metadata?: unknown }>(sent: T, note: Partial<RequestNote>): T {
  const { metadata } = sent;
  const isRecord = typeof metadata === 'object' && !Array.isArray(metadata);
  return {
    ...sent,
    metadata: isRecord ? { ...metadata, contextree: note } : (metadata ?? { contextree: note }),
  };
}

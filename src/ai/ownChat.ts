import { readUIMessageStream, type ChatTransport, type UIMessage, type UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { onLeaving } from '../engine/leaving.ts';
import { sameItems } from '../engine/same.ts';
import { sameJson } from '../engine/sameJson.ts';
import { expectEngine } from '../react/provider.tsx';
import { awaited, leave, mayGoOn, orLetGo } from './goingOn.ts';
import { headOf, listAfter } from './list.ts';
import { planTurn } from './plan.ts';
import { isOvertaken, placeOf, replaying, type Place, type Replay } from './replay.ts';
import { isToolPart, isWaiting } from './toolPart.ts';
import {
  openTurn,
  passOn,
  request,
  savedIn,
  withNote,
  type OpenedTurn,
  type SendOptions,
} from './transport.ts';
import { keepMessage, Turn, type TurnOptions } from './turn.ts';
import { wantedSignal } from './unwanted.ts';
import type { FollowingChat, WithContextOptions } from './withContext.ts';

type ReconnectOptions<M extends UIMessage> = Parameters<ChatTransport<M>['reconnectToStream']>[0];
type Answer = ReadableStream<UIMessageChunk>;

/** How a turn begins. */
interface Beginning {
  readonly messageId?: string | undefined;
  /** The node that was reserved for a new answer. */
  readonly answerId?: string | undefined;
  readonly isReplay?: boolean;
  /** Where it went on last. */
  readonly place?: Place | undefined;
}

/** What stands behind the transport of a chat that is not ours. */
export interface OwnChat<M extends UIMessage> {
  send(sent: SendOptions<M>): Promise<Answer>;
  reconnect(sent: ReconnectOptions<M>): Promise<Answer | null>;
  /** Lets go of the engine: the list follows no more. */
  readonly release: () => void;
}

/**
 * Keeps what a chat says that is not ours to change.
 *
 * All that is known of it is the list that it sends along; its messages may be stored under other ids than their own.
 * So answers are put together a second time here, beside the chat that shows them, from the very chunks that it reads.
 */
export function ownChat<M extends UIMessage>(
  transport: ChatTransport<M>,
  engine: ContextEngine,
  options: WithContextOptions<M>,
): OwnChat<M> {
  expectEngine(engine);
  const storedAs: WeakMap<M, M> = new WeakMap();
  const follower = followerOf(engine, options);

  const begin = async (
    list: readonly M[],
    { messageId, answerId, isReplay = false, place }: Beginning,
  ): Promise<{ readonly turn: Turn<M>; readonly replay: Replay<M> }> => {
    const branchId = idOfBranch(engine, options.branch);
    const saved = savedIn(engine, branchId, () => true, new Set<M>());
    const opened = await openTurn(engine, planTurn(list, saved, messageId), { branchId, answerId });
    const learn = ({ renamed }: OpenedTurn<M>): void => {
      for (const [own, stored] of renamed) storedAs.set(own, stored);
    };
    learn(opened);
    const replay = replaying(opened.answer, place, isReplay);
    const { version } = opened;
    const from = list.find(({ id }) => id === version?.of);
    const turn = new Turn<M>({
      engine,
      ...opened,
      ...accumulate(opened.answer, isReplay, replay),
      make: version && (async () => learn(await version.make(from))),
    });
    // A task later the chat has read the end, too.
    void turn.settled.then(() => setTimeout(follower.sync));
    return { turn, replay };
  };

  return {
    send: async (sent) => {
      await engine.ready();
      const list = sent.messages.map((message) => storedAs.get(message) ?? message);
      await keepResults(engine, list);
      const { turn } = await begin(list, sent);
      const wanted = { ...sent, abortSignal: wantedSignal(turn, sent.abortSignal) };
      return request(turn, transport, wanted, options.request);
    },
    reconnect: async (sent) => {
      await engine.ready();
      const branchId = idOfBranch(engine, options.branch);
      const chainNow = async (): Promise<UIMessage[]> => {
        const head = headOf(engine, branchId);
        return head === undefined ? [] : (await engine.resolve({ at: head })).messages;
      };
      const asked = (await chainNow()).at(-1);
      const note = await awaited(engine, branchId, asked);
      if (!note) return null;
      const noted = { ...withNote(sent, note), chatId: engine.chatId };
      const place = await placeOf(engine, note.answerId);
      const source = await transport.reconnectToStream(noted);
      if (!source) return null;
      const take = async (): Promise<Answer | null> => {
        if (await isOvertaken(engine, note.answerId, place)) return null;
        const chain = await chainNow();
        // StrictMode asks twice, and gives the first one up: the second one would be refused beside it.
        if (sent.abortSignal?.aborted) return null;
        if (!mayGoOn(engine, chain.at(-1), [asked?.id, note.answerId])) return null;
        const isReplay = transport.resumeStreamIsReplay ?? true;
        const { turn, replay } = await begin(chain as M[], { answerId: note.answerId, isReplay, place });
        return passOn(turn, sent.abortSignal, () => source, replay);
      };
      return orLetGo(source, take().catch(leave));
    },
    release: follower.release,
  };
}

function idOfBranch(engine: ContextEngine, branch: string | undefined): string {
  const { branches, branchId } = engine.state.getState();
  return branches.find(({ id, name }) => id === branch || name === branch)?.id ?? branch ?? branchId;
}

/** Lets the list of a chat follow the active branch. */
function followerOf<M extends UIMessage>(
  engine: ContextEngine,
  { chat, branch }: WithContextOptions<M>,
): { readonly sync: () => void; readonly release: () => void } {
  const twins: WeakMap<UIMessage, M> = new WeakMap();
  let followed: readonly UIMessage[] | undefined;
  let unregister: (() => void) | undefined;
  /** The AI SDK's chat says when its list changes: a result is saved when it is given, as long as it can say so. */
  const listen = (own: FollowingChat<M> | undefined): void => {
    unregister ??= own?.['~registerMessagesCallback']?.(() => {
      if (!isBusy(own)) keepResults(engine, own.messages).catch(() => {});
    });
  };
  const sync = (): void => {
    listen(chat?.());
    const own = branch === undefined ? chat?.() : undefined;
    const { status, messages } = engine.state.getState();
    if (!own || status !== 'ready' || messages === followed || isBusy(own)) return;
    followed = messages;
    const next = listAfter(engine, own.messages, messages as readonly M[], twins);
    if (!sameItems(own.messages, next)) own.messages = next;
  };
  sync();
  // There may be no hook and no provider that reads the chat. Whoever can't is told so with the first request.
  if (chat) engine.ready().catch(() => {});
  const releases = [
    engine.state.subscribe(sync),
    () => unregister?.(),
    onLeaving(() => void keepResults(engine, chat?.()?.messages ?? []).catch(() => {})),
  ];
  return { sync, release: () => releases.forEach((release) => release()) };
}

/**
 * Saves the results of tools, and words on them, that were given in a chat that is not ours: it tells of them with its
 * next request. They go to the node that asked.
 */
async function keepResults(engine: ContextEngine, list: readonly UIMessage[]): Promise<void> {
  for (const message of list) {
    const saved = engine.message(message.id);
    const answer = (now: UIMessage): UIMessage => (isAnswered(now, message) ? message : now);
    if (saved && engine.status(saved.id) !== 'streaming' && isAnswered(saved, message))
      await keepMessage(engine, message.id, answer, undefined);
  }
}

/** Whether a message is the saved one, except that calls which wait there are answered. */
function isAnswered(saved: UIMessage, { parts }: UIMessage): boolean {
  return (
    saved.parts.length === parts.length &&
    saved.parts.some((part, i) => isAnswer(part, parts[i])) &&
    saved.parts.every((part, i) => isAnswer(part, parts[i]) || sameJson(part, parts[i]))
  );
}

/** Whether a call that waits has got what it waits for. */
function isAnswer(part: Part, now: Part | undefined): boolean {
  return isToolPart(part) && isWaiting(part) && now !== undefined && isToolPart(now) && !isWaiting(now);
}

type Part = UIMessage['parts'][number];

function isBusy({ status }: Pick<FollowingChat, 'status'>): boolean {
  return status === 'submitted' || status === 'streaming';
}

/**
 * An answer put together from its parts, beside the chat that shows it. One that is said again from its beginning
 * counts as what it was until it says more than that.
 */
function accumulate<M extends UIMessage>(
  begun: M | undefined,
  isReplay: boolean,
  { asShown }: Replay<M>,
): Pick<TurnOptions<M>, 'read' | 'take' | 'flush'> {
  let message = begun;
  const { readable, writable } = new TransformStream<UIMessageChunk, UIMessageChunk>();
  const writer = writable.getWriter();
  const words = readUIMessageStream<M>({
    stream: readable,
    ...(begun && !isReplay ? { message: structuredClone(begun) } : {}),
  });
  const read = async (): Promise<void> => {
    for await (const next of words) message = asShown(next, message);
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

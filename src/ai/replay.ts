import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { createId } from '../fragment/id.ts';
import { goingOnKey } from '../store/keys.ts';
import { longer, sizeOf } from './goingOn.ts';
import { joinAt, seamOf } from './seam.ts';
import { isToolPart, type ToolPart } from './toolPart.ts';

/**
 * What a server says again.
 *
 * A page that comes back asks for the answer that its server still streams, and hears it from a beginning on. Which?
 * Mostly that of the request: of an answer that was let go on, only what was said since. Some servers tell all of the
 * answer, some connections only what is new, and nothing in the protocol says who does what. So where an answer went on
 * is kept beside the chat, and what comes is compared with what is known: the first beginning behind which both say the
 * same is the one. Until that is clear, and until the replay says more, what is known stays on the screen.
 */
export interface Place {
  /** How many parts stand before it. */
  readonly parts: number;
  /** The length of the last of them, if that is a text: more may be said in it. */
  readonly text: number;
  /** The request that was made there. One that was made since says other words behind it. */
  readonly request?: unknown;
}

/** Keeps where an answer goes on: what it is now stands before all that this request will say. */
export async function keepPlace(engine: ContextEngine, answer: UIMessage): Promise<void> {
  const { store, chatId } = engine;
  const isSettled = (id: string): boolean => (engine.status(id) ?? 'complete') === 'complete';
  try {
    const known = Object.entries(await placesOf(engine)).filter(([id]) => !isSettled(id));
    const place = { ...endOf(answer), request: createId() };
    await store.set(goingOnKey(chatId), Object.fromEntries([...known, [answer.id, place]]));
  } catch {
    // A disk that refuses says so with the words. Without this, a replay is judged by what it says.
  }
}

/** Where an answer went on last; undefined for one that never did. */
export async function placeOf(engine: ContextEngine, id: string | undefined): Promise<Place | undefined> {
  const places = await placesOf(engine).catch((): Places => ({}));
  const { parts, text, request } = places[id ?? ''] ?? {};
  return typeof parts === 'number' && typeof text === 'number' ? { parts, text, request } : undefined;
}

/** Whether an answer was let go on again since that place was read, here or in another tab: what is said there counts. */
export async function isOvertaken(
  engine: ContextEngine,
  id: string | undefined,
  known: Place | undefined,
): Promise<boolean> {
  return (await placeOf(engine, id))?.request !== known?.request;
}

type Places = Readonly<Record<string, Partial<Place>>>;

async function placesOf({ store, chatId }: ContextEngine): Promise<Places> {
  const places = await store.get<Places | null>(goingOnKey(chatId));
  return typeof places === 'object' && places !== null ? places : {};
}

/** How an answer is read that is said again. */
export interface Replay<M extends UIMessage> {
  /** What is made of a message as it was read: never less than what was `shown` before. */
  readonly asShown: (message: M, shown: M | undefined) => M;
  /** What is made of a chunk before it is read. */
  readonly hear: (chunk: UIMessageChunk) => readonly UIMessageChunk[];
}

/** Reads an answer that a transport says again to a chat of the AI SDK, while that asks for it. */
export function replayTo<M extends UIMessage>(
  chat: object,
  { resumeStreamIsReplay }: Pick<ChatTransport<M>, 'resumeStreamIsReplay'>,
  kept: M | undefined,
  begun: Place | undefined,
): Replay<M> {
  const { activeResponse, addToolApprovalResponse } = chat as {
    readonly activeResponse?: { readonly state: { readonly message: UIMessage } };
    readonly addToolApprovalResponse?: unknown;
  };
  // AI SDK 5 knows of replays only, and yet goes on with what the page had of an answer in which a call broke off.
  const isReplay = resumeStreamIsReplay ?? !addToolApprovalResponse;
  if (isReplay && activeResponse) activeResponse.state.message.parts = [];
  return replaying(kept, begun, isReplay);
}

/**
 * Reads an answer that is said again: `kept` is what is known of it, `begun` where it went on last. Without `isReplay`
 * the AI SDK reads on, and it may also be said only from there on where it broke off.
 */
export function replaying<M extends UIMessage>(
  kept: M | undefined,
  begun: Place | undefined,
  isReplay: boolean,
): Replay<M> {
  if (!kept) return { asShown: (message) => message, hear: (chunk) => [chunk] };
  const goesOn = [...(begun ? [begun] : []), ...(isReplay ? [] : [endOf(kept)])];
  const calls = new Calls(kept);
  const places = comparing(kept, [START, ...goesOn]);
  return {
    hear: (chunk) => (isReplay ? calls.hear(chunk) : [chunk]),
    asShown: (message, listed) => {
      if (message.id !== kept.id) return message;
      const shown = listed?.id === kept.id ? listed : kept;
      const isListed = sizeOf(message) === sizeOf(shown) && wordsOf(message) === wordsOf(shown);
      if (isListed) return longer(shown, message);
      const fresh = calls.without(message);
      // Nobody tells what became of a call without having told of it, but who goes on behind it.
      const place = fresh === message ? places(message) : (goesOn[0] ?? endOf(kept));
      return longer(shown, calls.answered(behind(kept, place, fresh, begun), message));
    },
  };
}

/**
 * The calls that stand before what is said again. Their results may be in it: a server carries out what a person
 * allowed, and says so first of all. The AI SDK reads no result without its call, so the call is said before it, and
 * taken out again.
 */
class Calls {
  readonly #known: ReadonlyMap<string, ToolPart>;
  readonly #met: Set<string> = new Set();
  readonly #repeated: Set<string> = new Set();

  constructor(kept: UIMessage) {
    this.#known = callsIn(kept);
  }

  hear(chunk: UIMessageChunk): readonly UIMessageChunk[] {
    if (!('toolCallId' in chunk) || this.#met.has(chunk.toolCallId)) return [chunk];
    this.#met.add(chunk.toolCallId);
    const call = this.#known.get(chunk.toolCallId);
    if (!call || chunk.type.startsWith('tool-input')) return [chunk];
    this.#repeated.add(chunk.toolCallId);
    return [asked(call), chunk];
  }

  /** A message as it was said, without the calls that were put before their results. */
  without<M extends UIMessage>(message: M): M {
    const parts = message.parts.filter((part) => !(isToolPart(part) && this.#repeated.has(part.toolCallId)));
    return parts.length === message.parts.length ? message : { ...message, parts };
  }

  /** A message in which those calls are what became of them in another one. */
  answered<M extends UIMessage>(message: M, said: UIMessage): M {
    if (this.#repeated.size === 0) return message;
    const results = callsIn(said);
    const answered = (part: Part): Part => {
      const isOwn = isToolPart(part) && this.#repeated.has(part.toolCallId);
      return isOwn ? { ...part, ...resultOf(results.get(part.toolCallId)) } : part;
    };
    return { ...message, parts: message.parts.map(answered) };
  }
}

type Part = UIMessage['parts'][number];

function callsIn({ parts }: UIMessage): ReadonlyMap<string, ToolPart> {
  return new Map(parts.flatMap((part) => (isToolPart(part) ? [[part.toolCallId, part] as const] : [])));
}

/** The chunk that says a call, and lets no page carry it out. */
function asked(call: ToolPart & { readonly toolName?: string; readonly input?: unknown }): UIMessageChunk {
  const { type, toolCallId, toolName = type.replace('tool-', ''), input } = call;
  const dynamic = type === 'dynamic-tool';
  return { type: 'tool-input-available', toolCallId, toolName, input, dynamic, providerExecuted: true };
}

/** What a call has beyond its being asked. */
function resultOf(call: (ToolPart & { readonly providerExecuted?: boolean }) | undefined): object {
  const { providerExecuted: _ours, ...result } = call ?? {};
  return Object.fromEntries(Object.entries(result).filter(([, value]) => value !== undefined));
}

const START: Place = { parts: 0, text: 0 };

/** Which of these places a message goes on from, the first that fits; the last where none does. */
function comparing(kept: UIMessage, places: readonly Place[]): (message: UIMessage) => Place {
  const known = wordsOf(kept);
  let left = places.map((place) => ({ place, since: known.slice(wordsOf(before(kept, place)).length) }));
  return (message) => {
    if (left.length > 1) {
      const said = wordsOf(message);
      const fitting = left.filter(({ since }) => since.startsWith(said) || said.startsWith(since));
      left = fitting.length > 0 ? fitting : left.slice(-1);
      // All that was known has been said again: what follows is new, whatever it is like.
      if (said.length >= (left[0]?.since.length ?? 0)) left = left.slice(0, 1);
    }
    return left[0]?.place ?? START;
  };
}

/** What was said again, behind what stood before it. */
function behind<M extends UIMessage>(kept: M, place: Place, message: M, begun: Place | undefined): M {
  const seam = seamOf(before(kept, place === START ? (begun ?? START) : place));
  if (place === START) return joinAt(message, seam);
  const parts = [...before(kept, place).parts, ...message.parts];
  return joinAt({ ...message, metadata: merged(kept.metadata, message.metadata), parts }, seam);
}

function merged(known: unknown, said: unknown): unknown {
  const areRecords = [known, said].every((one) => typeof one === 'object' && one !== null);
  return areRecords ? { ...(known as object), ...(said as object) } : (said ?? known);
}

/** A message as far as a place in it. */
function before<M extends UIMessage>(message: M, { parts: count, text }: Place): M {
  const parts = message.parts.slice(0, count);
  const last = parts.at(-1);
  const isCut = last?.type === 'text' && last.text.length > text;
  return {
    ...message,
    parts: isCut
      ? parts.with(parts.length - 1, { ...last, text: last.text.slice(0, text), state: 'streaming' })
      : parts,
  };
}

function endOf({ parts }: UIMessage): Place {
  const last = parts.at(-1);
  return { parts: parts.length, text: last?.type === 'text' ? last.text.length : 0 };
}

/** All that a message says, as one text: however its texts are parted, and whatever became of its calls. */
function wordsOf({ parts }: UIMessage): string {
  return parts
    .map((part) => {
      if (part.type === 'text') return part.text;
      if (part.type === 'step-start') return '';
      const id = 'toolCallId' in part ? part.toolCallId : '';
      return `\0${part.type}\0${id}\0${'text' in part ? part.text : ''}`;
    })
    .join('');
}

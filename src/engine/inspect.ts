import type { UIMessage } from 'ai';
import { ContextError, isContextError, readFrom, reasonOf } from '../errors.ts';
import { isLazyFragment, isRecord, LAZY_ID, type ContextFragment } from '../fragment/fragment.ts';
import { checkMessage, messageOf } from '../fragment/message.ts';
import type { GraphData } from '../graph/visualize.ts';
import type { ContextRenderer } from '../render/renderer.ts';
import { countAhead, isBatch, type BatchTokenizer } from '../tokens/count.ts';
import { estimatePrompt, type EstimateResult } from '../tokens/estimate.ts';
import { findModel } from '../tokens/models.ts';
import { estimateTokenizer, type Tokenizer } from '../tokens/tokenizer.ts';
import { expectOption, expectRenderer, type PendingMessage, splitLanes } from './desk.ts';
import { plainContent } from './plain.ts';
import { loadedFragments, textOf } from './view.ts';
import type { Writer } from './writer.ts';

/** Up to here a `data:` URL is shown whole, in characters. */
const LONGEST_URL = 200;

/**
 * What the model will get, taken apart.
 *
 * This is the code of `estimate()` and `inspect()`; it comes when one of them is called. They look at the same prompt
 * that `resolve()` makes, at any message of the chat, and ask nobody: models and prices are the ones that are known.
 *
 * They part over a fragment that fails. A snapshot is taken to find out what is wrong, so there it takes nothing else
 * down: it is left out of the prompt, counts nothing, and says why. An estimate is a number, and one of a prompt that
 * can't be made would be wrong; it rejects, as `resolve()` does.
 */

/** What to inspect, and how. */
export interface InspectOptions {
  /** `provider:model`, as in `openai:gpt-4o`. Without it, and for an unknown one, costs and limits are null. */
  readonly modelId?: string | undefined;
  /** Default: the engine's. */
  readonly renderer?: ContextRenderer | undefined;
  /** Any message of the chat; default: the head, with what is pending. */
  readonly at?: string | undefined;
  /** A branch by name or id; default: the active one. */
  readonly branch?: string | undefined;
  /**
   * What counts: what `loadTokenizer()` or `createWorkerTokenizer()` of `contextree/tokenizers/*` give, awaited or not.
   * Default: the estimate.
   */
  readonly tokenizer?: Tokenizer | BatchTokenizer | Promise<Tokenizer> | undefined;
  /** Tokens to keep free for the answer; taken from `limits.left`. Default 0. */
  readonly reserve?: number | undefined;
  /** Stops the loading of lazy values; rejects with `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** What to estimate: the engine's prompt, or one that it might have. */
export interface EstimateOptions extends InspectOptions {
  /** In place of the engine's fragments; messages among them count as messages, after all others. */
  readonly fragments?: readonly ContextFragment[] | undefined;
  /** In place of the messages that `resolve()` would give. */
  readonly messages?: readonly UIMessage[] | undefined;
}

/** A chat's context at one moment: plain data, safe to stringify. */
export interface ContextSnapshot {
  readonly estimate: EstimateResult;
  /** The system prompt, without the fragments that failed; `estimate.fragments` says which and why. */
  readonly rendered: string;
  /**
   * Which part of it each fragment is, from `start` to before `end`; `fragment` is an index of `fragments.context`. Empty
   * where the renderer can't tell.
   */
  readonly spans: readonly { readonly fragment: number; readonly start: number; readonly end: number }[];
  readonly fragments: {
    /** Of the system prompt. */
    readonly context: readonly FragmentSnapshot[];
    /** Set and not yet saved. */
    readonly pending: readonly UIMessage[];
    /** Saved messages up to the one inspected, oldest first. */
    /** The messages, oldest first; in the place of the bytes of a long `data:` URL stands their number. */
    readonly persisted: readonly UIMessage[];
  };
  readonly graph: GraphData;
  readonly meta: {
    readonly chatId: string;
    readonly branch: string;
    /** Milliseconds since epoch. */
    readonly timestamp: number;
  };
}

/** A fragment as data; what is computed at `resolve()` reads `[lazy]`, what JSON can't hold stands there in words. */
export interface FragmentSnapshot {
  readonly id?: string;
  readonly name: string;
  readonly data: unknown;
}

/** What a model call would be made from. */
export interface Subject {
  readonly fragments: readonly ContextFragment[];
  readonly renderer: ContextRenderer;
  /** What a model call would send. */
  readonly messages: readonly UIMessage[];
  readonly chatMetadata: unknown;
}

/** Estimates a prompt; with fragments in place of its own, if there are any. Rejects where one of them fails. */
export async function estimateSubject(
  subject: Subject,
  { fragments, ...options }: EstimateOptions,
): Promise<EstimateResult> {
  expectOption(isListOrNone(fragments), 'fragments', 'a list of fragments', fragments);
  expectOption(isListOrNone(options.messages), 'messages', 'a list of messages', options.messages);
  const asked = fragments ? withFragments(subject, fragments) : subject;
  return (await measure(asked, options, refuseProblem)).estimate;
}

function isListOrNone(value: unknown): boolean {
  return !value || readFrom('The list', () => Array.isArray(value));
}

/** Estimates fragments alone; those that are messages count as messages. */
export function estimateFragments(
  modelId: string,
  renderer: ContextRenderer,
  fragments: readonly ContextFragment[],
): Promise<EstimateResult> {
  const nothing = { fragments: [], renderer, messages: [], chatMetadata: undefined };
  return estimateSubject(nothing, { modelId, fragments });
}

/** They pass the same door as those of `set()`. */
function withFragments(subject: Subject, given: readonly ContextFragment[]): Subject {
  const { messages, context } = splitLanes(given);
  return {
    ...subject,
    fragments: context.map(({ copy }) => copy),
    messages: [...subject.messages, ...messages.map(({ copy }) => messageIn(copy))],
  };
}

function messageIn(fragment: ContextFragment): UIMessage {
  return isLazyFragment(fragment) ? answerOf(fragment[LAZY_ID].content) : messageOf(fragment);
}

/** Takes a snapshot of a chat. */
export async function inspectChat(
  writer: Writer,
  subject: Subject,
  graph: GraphData,
  options: InspectOptions,
): Promise<ContextSnapshot> {
  const { chains, desk, view } = writer;
  const { at } = options;
  const branch = view.branchOrActive(options.branch);
  const head = (): string | null => (at === undefined ? view.headOf(branch) : view.message(at, branch).key);
  const persisted = await writer.inTurn(async () => chains.messages(head()));
  const pending = at === undefined && branch.id === view.activeId ? desk.pending : [];
  const { estimate, rendered, pieces } = await measure(subject, options, tellProblem);
  return {
    estimate,
    rendered,
    spans: await spansOf(rendered, pieces, subject.renderer),
    fragments: {
      context: subject.fragments.map(snapshotOf),
      pending: pending.map(({ content }) => pendingMessage(content)),
      persisted: persisted.map(withoutBytes),
    },
    graph,
    meta: { chatId: desk.chatId, branch: view.nameOf(branch.id), timestamp: Date.now() },
  };
}

/** The message without the bytes of its files: their size stands in their place. The message itself where it has none. */
function withoutBytes(message: UIMessage): UIMessage {
  const parts = message.parts.map((part) =>
    part.type === 'file' && /^data:/i.test(part.url) ? { ...part, url: shortUrl(part.url) } : part,
  );
  return parts.some((part, i) => part !== message.parts[i]) ? { ...message, parts } : message;
}

function shortUrl(url: string): string {
  if (url.length <= LONGEST_URL) return url;
  return `${url.slice(0, url.indexOf(',') + 1)}[${url.length} characters]`;
}

async function measure(
  { fragments, renderer, messages, chatMetadata }: Subject,
  { modelId = '', tokenizer = estimateTokenizer, reserve = 0, signal }: InspectOptions,
  onProblem: (fragment: ContextFragment, error: unknown) => Piece,
): Promise<{
  readonly estimate: EstimateResult;
  readonly rendered: string;
  readonly pieces: readonly Piece[];
}> {
  expectOption(typeof modelId === 'string', 'modelId', 'a text like "openai:gpt-4o"', modelId);
  expectRenderer(renderer);
  expectOption(Number.isFinite(reserve) && reserve >= 0, 'reserve', 'a number of tokens', reserve);
  const pieces = await Promise.all(
    fragments.map((fragment) =>
      pieceOf(fragment, renderer, signal).catch((error: unknown) => {
        if (signal?.aborted) throw error;
        return onProblem(fragment, error);
      }),
    ),
  );
  const rendered = renderTogether(pieces, renderer);
  const [counter, model] = await Promise.all([tokenizer, findModel(modelId)]);
  const counts = typeof (counter as Partial<Tokenizer> | null)?.count === 'function';
  expectOption(counts, 'tokenizer', 'what loadTokenizer() or createWorkerTokenizer() gives', counter);
  const estimate = await readable(messages, async () =>
    estimatePrompt({
      modelId,
      model,
      tokenizer: isBatch(counter)
        ? await countAhead(counter, [rendered, ...pieces.map(({ text }) => text)], messages)
        : counter,
      systemPrompt: rendered,
      fragments: pieces,
      messages,
      reserve,
      chatMetadata,
    }),
  );
  return { estimate, rendered, pieces };
}

/** A renderer that gives another text now, or none, has told nothing of this one. */
async function spansOf(
  rendered: string,
  pieces: readonly Piece[],
  renderer: ContextRenderer,
): Promise<ContextSnapshot['spans']> {
  const loaded = pieces.flatMap((piece) => piece.loaded ?? []);
  const found = await Promise.resolve(renderer.renderWithSpans?.(loaded)).catch(() => undefined);
  if (found?.text !== rendered) return [];
  return found.spans.map(({ fragment, start, end }) => {
    return { fragment: pieces.findIndex((piece) => piece.loaded === fragment), start, end };
  });
}

/** Throws `invalid-options` for options that are none. */
export function expectOptions(options: unknown): void {
  const message = `The options must be a record like { modelId: 'openai:gpt-4o' }, and are ${reasonOf(options)}.`;
  if (!isRecord(options)) throw new ContextError('invalid-options', message, { details: { value: options } });
}

/** What is asked of messages; if it fails because of one of them, that is told. Most are checked already. */
async function readable<R>(messages: readonly UIMessage[], ask: () => Promise<R>): Promise<R> {
  try {
    return await ask();
  } catch (error) {
    for (const message of messages) checkMessage(message);
    throw error;
  }
}

/** A fragment rendered alone. */
interface Piece {
  readonly id?: string | undefined;
  readonly name: string;
  /** Without what is lazy; undefined when it failed. */
  readonly loaded?: ContextFragment | undefined;
  readonly text: string;
  /** Why it failed. */
  readonly problem?: string;
}

async function pieceOf(
  fragment: ContextFragment,
  renderer: ContextRenderer,
  signal: AbortSignal | undefined,
): Promise<Piece> {
  const { id, name } = fragment;
  const [loaded = fragment] = await loadedFragments([fragment], signal);
  return { id, name, loaded, text: textOf(renderer, [loaded]) };
}

function tellProblem({ id, name }: ContextFragment, error: unknown): Piece {
  return { id, name, text: '', problem: reasonOf(error) };
}

function refuseProblem({ name }: ContextFragment, cause: unknown): never {
  if (isContextError(cause)) throw cause;
  const message = `Fragment "${name}": it could not be rendered: ${reasonOf(cause)}`;
  throw new ContextError('invalid-fragment', message, { details: { path: '' }, cause });
}

/** Those that render alone, in one piece; if a renderer can't do that, one after another. */
function renderTogether(pieces: readonly Piece[], renderer: ContextRenderer): string {
  try {
    return textOf(
      renderer,
      pieces.flatMap(({ loaded }) => loaded ?? []),
    );
  } catch {
    return pieces.map(({ text }) => text).join('\n');
  }
}

function pendingMessage(content: PendingMessage): UIMessage {
  return content.kind === 'message' ? content.message : answerOf(content.text);
}

/** What `lastAssistantMessage()` says; which message that will be is not known yet. */
function answerOf(text: string): UIMessage {
  return { id: 'last-assistant', role: 'assistant', parts: [{ type: 'text', text }] };
}

function snapshotOf(fragment: ContextFragment): FragmentSnapshot {
  const { id, name } = fragment;
  return { ...(id !== undefined && { id }), name, data: plainContent(fragment) };
}

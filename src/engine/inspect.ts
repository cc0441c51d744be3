import type { UIMessage } from 'ai';
import { ContextError, isContextError, isRecord, readFrom, reasonOf } from '../errors.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import { checkMessage } from '../fragment/message.ts';
import type { GraphData } from '../graph/visualize.ts';
import type { ContextRenderer } from '../render/renderer.ts';
import { countAhead, isBatch, type BatchTokenizer } from '../tokens/count.ts';
import { estimatePrompt, type EstimateResult } from '../tokens/estimate.ts';
import { findModel } from '../tokens/models.ts';
import { estimateTokenizer, type Tokenizer } from '../tokens/tokenizer.ts';
import { expectOption, expectRenderer, pendingOf, splitLanes } from './desk.ts';
import { plainContent } from '../fragment/plain.ts';
import { loadedFragments, renderedBy } from './prompt.ts';
import type { Writer } from './writer.ts';

/**
 * What the model will get, taken apart: the code of `estimate()` and `inspect()`, loaded on first use. Both read the prompt
 * that `resolve()` makes, at any message, and use no network.
 *
 * A snapshot leaves out a fragment that fails, with the reason. An estimate rejects, as `resolve()` does.
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
   * The tokenizer: what `loadTokenizer()` or `createWorkerTokenizer()` of `contextree/tokenizers/*` returns, awaited or not.
   * Default: the estimate.
   */
  readonly tokenizer?: Tokenizer | BatchTokenizer | Promise<Tokenizer> | undefined;
  /** Tokens to keep free for the answer, subtracted from `limits.left`. Default 0. */
  readonly reserve?: number | undefined;
  /** Stops the loading of lazy values; rejects with `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** What to estimate: the engine's prompt, or another one. */
export interface EstimateOptions extends InspectOptions {
  /** Replaces the engine's fragments; messages among them count as messages, after all others. */
  readonly fragments?: readonly ContextFragment[] | undefined;
  /** Replaces the messages that `resolve()` would return. */
  readonly messages?: readonly UIMessage[] | undefined;
}

/** A chat's context at one moment: plain data, safe to stringify. */
export interface ContextSnapshot {
  readonly estimate: EstimateResult;
  /** The system prompt, without the fragments that failed; `estimate.fragments` names them, with the reasons. */
  readonly rendered: string;
  /**
   * The range of each fragment in it, from `start` to before `end`; `fragment` is an index into `fragments.context`. Empty
   * where the renderer can't tell.
   */
  readonly spans: readonly { readonly fragment: number; readonly start: number; readonly end: number }[];
  readonly fragments: {
    /** The fragments of the system prompt. */
    readonly context: readonly FragmentSnapshot[];
    /** Messages that are set and not yet saved. */
    readonly pending: readonly UIMessage[];
    /** Saved messages up to the inspected one, oldest first; a long `data:` URL is cut and replaced by its length. */
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

/** A fragment as data: `[lazy]` for a value that `resolve()` computes, a description for a value that JSON can't hold. */
export interface FragmentSnapshot {
  readonly id?: string;
  readonly name: string;
  readonly data: unknown;
}

/** What a model call would be made from. */
export interface Subject {
  readonly fragments: readonly ContextFragment[];
  readonly renderer: ContextRenderer;
  /** The messages that a model call would send. */
  readonly messages: readonly UIMessage[];
  readonly chatMetadata: unknown;
}

/** Estimates a prompt, or the given fragments in place of its own. Rejects if one of them fails. */
export async function estimateSubject(
  subject: Subject,
  { fragments, ...options }: EstimateOptions,
): Promise<EstimateResult> {
  for (const [name, list] of [['fragments', fragments] as const, ['messages', options.messages] as const])
    expectOption(!list || readFrom('The list', () => Array.isArray(list)), name, `a list of ${name}`, list);
  const asked = fragments ? withFragments(subject, fragments) : subject;
  return (await measure(asked, options, refuse)).estimate;
}

function refuse({ name }: ContextFragment, cause: unknown): never {
  if (isContextError(cause)) throw cause;
  const message = `Fragment "${name}": it could not be rendered: ${reasonOf(cause)}`;
  throw new ContextError('invalid-fragment', message, { details: { path: '' }, cause });
}

/** A subject with other fragments; messages among them count as messages. */
function withFragments(subject: Subject, given: readonly ContextFragment[]): Subject {
  const { messages, context } = splitLanes(given);
  const more = messages.map((one) => pendingOf(one).message);
  const fragments = context.map(({ copy }) => copy);
  return { ...subject, fragments, messages: [...subject.messages, ...more] };
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
  const pending = at === undefined && branch.id === view.active.id ? desk.pending : [];
  const { estimate, rendered, pieces } = await measure(subject, options, ({ id, name }, error) => {
    return { id, name, text: '', problem: reasonOf(error) };
  });
  return {
    estimate,
    rendered,
    spans: await spansOf(rendered, pieces, subject.renderer),
    fragments: {
      context: subject.fragments.map((one) => {
        const { id, name } = one;
        return { ...(id === undefined ? {} : { id }), name, data: plainContent(one) };
      }),
      pending: pending.map(({ message, isLast }) => (isLast ? { ...message, id: LAST } : message)),
      persisted: persisted.map(withoutBytes),
    },
    graph,
    meta: { chatId: desk.chatId, branch: view.nameOf(branch.id), timestamp: Date.now() },
  };
}

/** The message with its long `data:` URLs cut; the same object where it has none. */
function withoutBytes(message: UIMessage): UIMessage {
  const parts = message.parts.map((part) => {
    if (part.type !== 'file' || part.url.length <= LONGEST_URL || !/^data:/i.test(part.url)) return part;
    const { url } = part;
    return { ...part, url: `${url.slice(0, url.indexOf(',') + 1)}[${url.length} characters]` };
  });
  return parts.some((part, i) => part !== message.parts[i]) ? { ...message, parts } : message;
}

/** The length up to which a `data:` URL is shown whole, in characters. */
const LONGEST_URL = 200;

async function measure(
  { fragments, renderer, messages, chatMetadata }: Subject,
  { modelId = '', tokenizer = estimateTokenizer, reserve = 0, signal }: InspectOptions,
  onProblem: (fragment: ContextFragment, error: unknown) => Piece,
) {
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
  const estimate = await readable(messages, async () => {
    const texts = [rendered, ...pieces.map(({ text }) => text)];
    if (isBatch(counter)) await countAhead(counter, texts, messages);
    const parts = { systemPrompt: rendered, fragments: pieces, messages };
    return estimatePrompt({ modelId, model, tokenizer: counter, ...parts, reserve, chatMetadata });
  });
  return { estimate, rendered, pieces };
}

/** The ranges of the fragments; none if the renderer now returns another text. */
async function spansOf(rendered: string, pieces: readonly Piece[], renderer: ContextRenderer) {
  const loaded = pieces.flatMap((piece) => piece.loaded ?? []);
  const found = await Promise.resolve(renderer.renderWithSpans?.(loaded)).catch(() => undefined);
  if (found?.text !== rendered) return [];
  return found.spans.map(({ fragment, start, end }) => {
    return { fragment: pieces.findIndex((piece) => piece.loaded === fragment), start, end };
  });
}

/** Throws `invalid-options` for a value that is no options object. */
export function expectOptions(options: unknown): void {
  expectOption(isRecord(options), 'The options', "a record like { modelId: 'openai:gpt-4o' }", options);
}

/** Runs a task on messages. If it fails because one is malformed, the error says which. */
async function readable<R>(messages: readonly UIMessage[], ask: () => Promise<R>): Promise<R> {
  try {
    return await ask();
  } catch (error) {
    for (const message of messages) checkMessage(message);
    throw error;
  }
}

interface Piece {
  readonly id?: string | undefined;
  readonly name: string;
  /** The fragment with its lazy values loaded; undefined if that failed. */
  readonly loaded?: ContextFragment | undefined;
  readonly text: string;
  readonly problem?: string;
}

async function pieceOf(
  fragment: ContextFragment,
  renderer: ContextRenderer,
  signal: AbortSignal | undefined,
): Promise<Piece> {
  const { id, name } = fragment;
  const [loaded = fragment] = await loadedFragments([fragment], signal);
  return { id, name, loaded, text: renderedBy(renderer, [loaded]) };
}

/** Renders all fragments together; one after another where the renderer fails on that. */
function renderTogether(pieces: readonly Piece[], renderer: ContextRenderer): string {
  try {
    const loaded = pieces.flatMap((piece) => piece.loaded ?? []);
    return renderedBy(renderer, loaded);
  } catch {
    return pieces.map(({ text }) => text).join('\n');
  }
}

/** The id of the message of `lastAssistantMessage()`, whose place is not known yet. */
const LAST = 'last-assistant';

import type { UIMessage } from 'ai';
import { type ContextEngine, type ContextFragment, type ContextRenderer, maskSecrets } from 'contextree';
import { chainOf } from './chain.ts';
import type { RecordedRequest } from './requests.ts';

/**
 * The prompt at a message, as it was sent or would be.
 *
 * For an answer whose request was recorded, that is a fact. For any other message it is what today's fragments make of it. The
 * two must not be confused, so each prompt says which it is.
 */
export interface PromptAt {
  /** `next`: what would be sent now. `today`: what would be sent there, with today's fragments. */
  readonly kind: 'recorded' | 'today' | 'next';
  readonly request: RecordedRequest | undefined;
  readonly renderer: string;
  /** The system prompt in pieces, in order; with secrets masked, if it was recorded. */
  readonly pieces: readonly PromptPiece[];
  /** The fragments of the system prompt, in order. */
  readonly fragments: readonly ContextFragment[];
  /** The conversation, oldest first; with secrets masked, if it was recorded. */
  readonly messages: readonly UIMessage[];
}

/** A part of the system prompt: a fragment, or the text between two. */
export interface PromptPiece {
  readonly text: string;
  readonly fragment?: ContextFragment;
}

/** The prompt to show. */
interface Place {
  readonly engine: ContextEngine;
  /** The key of a message; undefined for the next request. */
  readonly node: string | undefined;
  /** Whether recorded requests are ignored. */
  readonly isToday?: boolean;
  /** Default: the app's. A recorded prompt stays as it was sent. */
  readonly renderer?: ContextRenderer;
}

/** The latest recorded request for an answer, or for a question. */
export function requestAt({
  engine,
  node,
  requests = engine.requests(),
}: Place & { readonly requests?: readonly RecordedRequest[] }): RecordedRequest | undefined {
  if (node === undefined) return undefined;
  const isAnswer = engine.node(node)?.name === 'assistant';
  return requests.findLast((one) => (isAnswer ? one.answerKey : one.parentKey) === node);
}

/** The prompt at a message. */
export async function promptAt(
  place: Place,
  signal?: AbortSignal,
): Promise<PromptAt & { readonly loaded: readonly ContextFragment[] }> {
  const request = place.isToday ? undefined : requestAt(place);
  if (request) return { ...(await recordedPrompt(request)), loaded: [] };
  const { engine, node, renderer = engine.renderer } = place;
  const own = engine.state.getState().fragments;
  let loaded: readonly ContextFragment[] = [];
  const keeping: ContextRenderer = {
    name: renderer.name,
    render: (fragments) => renderer.render((loaded = fragments)),
  };
  const at = endOf(place);
  const resolved = await engine.resolve({ ...(at && { at }), renderer: keeping, signal });
  const rendered = await Promise.resolve(renderer.renderWithSpans?.(loaded)).catch(() => undefined);
  const { systemPrompt } = resolved;
  const spans = rendered?.text === systemPrompt ? rendered.spans : [];
  return {
    kind: node === undefined ? 'next' : 'today',
    request: undefined,
    renderer: renderer.name,
    fragments: own,
    pieces: piecesOf(
      systemPrompt,
      spans.map((span) => ({ ...span, fragment: own[loaded.indexOf(span.fragment)] ?? span.fragment })),
    ),
    messages: at === null ? [] : resolved.messages,
    loaded,
  };
}

/** The last message of a prompt: for an answer, the one before it. Null where there is none. */
function endOf({ engine, node }: Place): string | null | undefined {
  const info = engine.node(node ?? '');
  return info?.name === 'assistant' ? info.parentKey : info?.key;
}

const masked = new WeakMap<RecordedRequest['messages'], Promise<PromptAt>>();

/** A record changes as its answer grows, but its prompt does not: it is masked once. */
function recordedPrompt(request: RecordedRequest): Promise<PromptAt> {
  const known = masked.get(request.messages) ?? maskedPrompt(request);
  masked.set(request.messages, known);
  return known.then((prompt) => ({ ...prompt, request }));
}

async function maskedPrompt(request: RecordedRequest): Promise<PromptAt> {
  const { system, spans, messages, renderer } = request;
  const pieces = piecesOf(system, spans).map(async ({ text, ...piece }) => {
    return { ...piece, text: await maskSecrets(text) };
  });
  return {
    kind: 'recorded',
    request,
    renderer,
    fragments: spans.map(({ fragment }) => fragment),
    pieces: await Promise.all(pieces),
    messages: await maskSecrets(messages),
  };
}

function piecesOf(text: string, spans: RecordedRequest['spans']): readonly PromptPiece[] {
  const pieces: PromptPiece[] = [];
  let from = 0;
  for (const { fragment, start, end } of spans) {
    // Rows of one table share a span: the first of them gets it.
    if (start < from) continue;
    if (start > from) pieces.push({ text: text.slice(from, start) });
    pieces.push({ text: text.slice(start, end), fragment });
    from = end;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

/** The system prompt in one piece. */
export function systemOf({ pieces }: Pick<PromptAt, 'pieces'>): string {
  return pieces.map(({ text }) => text).join('');
}

/** The key of the previous turn's answer, before a message, or before the next request. */
export function turnBefore(
  engine: ContextEngine,
  node: string | undefined,
  headKey: string | undefined,
): string | undefined {
  const before = node === undefined ? headKey : engine.node(node)?.parentKey;
  return chainOf(engine, before).find(({ name }) => name === 'assistant')?.key;
}

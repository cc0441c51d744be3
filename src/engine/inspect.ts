import type { UIMessage } from 'ai';
import { isLazyFragment, isLazyValue, type ContextFragment } from '../fragment/fragment.ts';
import type { GraphData } from '../graph/visualize.ts';
import type { ContextRenderer } from '../render/renderer.ts';
import { estimateTokens } from '../tokens/tokenizer.ts';
import type { PendingMessage } from './save.ts';

/** What to inspect, and how. */
export interface InspectOptions {
  /** `provider:model`, as in `openai:gpt-4o`. */
  readonly modelId?: string | undefined;
  /** Default: the engine's. */
  readonly renderer?: ContextRenderer | undefined;
  /** Any message of the chat; default: the head, with what is pending. */
  readonly at?: string | undefined;
}

/** A chat's context at one moment: plain data, safe to stringify. */
export interface ContextSnapshot {
  readonly estimate: Estimate;
  /** The system prompt. */
  readonly rendered: string;
  readonly fragments: {
    /** Of the system prompt. */
    readonly context: readonly FragmentSnapshot[];
    /** Set and not yet saved. */
    readonly pending: readonly UIMessage[];
    /** Saved messages up to the one inspected, oldest first. */
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

/** A fragment as data; what is computed at `resolve()` reads `[lazy]`. */
export interface FragmentSnapshot {
  readonly id?: string;
  readonly name: string;
  readonly data: unknown;
}

/** How large a prompt is. */
export interface Estimate {
  /** The model's id, '' when none was asked for. */
  readonly model: string;
  readonly provider: string;
  /** Estimated tokens of system prompt and messages together. */
  readonly tokens: number;
  /** US dollars; null while the model's price is unknown. */
  readonly cost: number | null;
  readonly limits: {
    readonly context: number | null;
    readonly output: number | null;
    readonly exceedsContext: boolean;
  };
  /** Each fragment rendered alone. */
  readonly fragments: readonly {
    readonly id?: string;
    readonly name: string;
    readonly tokens: number;
    readonly cost: number | null;
  }[];
}

/** Puts a snapshot together. Pure. */
export function takeSnapshot(input: {
  readonly options: InspectOptions;
  readonly systemPrompt: string;
  readonly fragments: readonly ContextFragment[];
  readonly renderer: ContextRenderer;
  /** What a model call would send. */
  readonly messages: readonly UIMessage[];
  readonly persisted: readonly UIMessage[];
  readonly pending: readonly PendingMessage[];
  readonly graph: GraphData;
  readonly chatId: string;
  readonly branch: string;
}): ContextSnapshot {
  return {
    estimate: estimatePrompt(input),
    rendered: input.systemPrompt,
    fragments: {
      context: input.fragments.map(snapshotOf),
      pending: input.pending.map(pendingMessage),
      persisted: input.persisted,
    },
    graph: input.graph,
    meta: { chatId: input.chatId, branch: input.branch, timestamp: Date.now() },
  };
}

function estimatePrompt({
  options,
  systemPrompt,
  fragments,
  renderer,
  messages,
}: Parameters<typeof takeSnapshot>[0]): Estimate {
  const modelId = options.modelId ?? '';
  const [provider = '', model = ''] = modelId.includes(':') ? modelId.split(/:(.*)/s) : ['', modelId];
  const tokens =
    estimateTokens(systemPrompt) + messages.reduce((sum, message) => sum + messageTokens(message), 0);
  return {
    model,
    provider,
    tokens,
    cost: null,
    limits: { context: null, output: null, exceedsContext: false },
    fragments: fragments.map((fragment) => fragmentEstimate(fragment, renderer)),
  };
}

function fragmentEstimate(
  fragment: ContextFragment,
  renderer: ContextRenderer,
): Estimate['fragments'][number] {
  const { id, name } = fragment;
  return {
    ...(id === undefined ? {} : { id }),
    name,
    tokens: estimateTokens(renderAlone(fragment, renderer)),
    cost: null,
  };
}

function renderAlone(fragment: ContextFragment, renderer: ContextRenderer): string {
  try {
    return renderer.render([fragment]);
  } catch {
    return '';
  }
}

/** The words of a message, as a model reads them: texts as they are, other parts as JSON. */
function messageTokens(message: UIMessage): number {
  const words = message.parts.map((part) =>
    'text' in part && typeof part.text === 'string' ? part.text : JSON.stringify(part),
  );
  return estimateTokens(words.join('\n'));
}

function pendingMessage(content: PendingMessage): UIMessage {
  if (content.kind === 'message') return content.message;
  return { id: 'last-assistant', role: 'assistant', parts: [{ type: 'text', text: content.text }] };
}

function snapshotOf(fragment: ContextFragment): FragmentSnapshot {
  const { id, name } = fragment;
  const data = isLazyFragment(fragment)
    ? '[lazy]'
    : plain(fragment.data ?? fragment.codec?.encode(), new Set());
  return { ...(id === undefined ? {} : { id }), name, data };
}

/** Data that JSON can hold: lazy values named as such, cycles cut. */
function plain(data: unknown, trail: ReadonlySet<unknown>): unknown {
  if (typeof data === 'bigint') return String(data);
  if (typeof data !== 'object' || data === null) return typeof data === 'function' ? '[lazy]' : data;
  if (trail.has(data)) return '[circular]';
  const inner = new Set(trail).add(data);
  if (Array.isArray(data)) return data.map((item) => plain(item, inner));
  if (isLazyValue(data)) return '[lazy]';
  const entries = Object.entries(data).filter(([key]) => key !== 'codec');
  return Object.fromEntries(entries.map(([key, value]) => [key, plain(value, inner)]));
}

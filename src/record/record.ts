import type { UIMessage, UIMessageChunk } from 'ai';
import type { FragmentSpan } from '../render/renderer.ts';
import type { MeasuredUsage } from '../tokens/usage.ts';
import type { Section } from './sections.ts';

/**
 * A request as its transport got it, and the answer.
 *
 * A record holds content: what people said, the prompt, perhaps a pasted key. It lives in memory only; use `masked()` before it
 * is shown, copied or exported. Of headers it holds the names.
 *
 * A record is a value: a change replaces it, except that its list of chunks grows.
 */
export interface RecordedRequest {
  /** A UUID. */
  readonly id: string;
  /** The id of the answer, until the server gives it another; and its key, which stays. */
  readonly answerId: string;
  readonly answerKey: string;
  /** The key of the message that the answer follows; null for a first one. */
  readonly parentKey: string | null;
  readonly branchId: string;
  /** When it was handed to the transport, in ms since epoch. */
  readonly at: number;
  readonly trigger: 'submit-message' | 'regenerate-message';
  /** How many versions of this answer existed already. */
  readonly attempt: number;
  /** The system prompt: `body.system`, if that is a text, else the rendered fragments; '' for none. */
  readonly system: string;
  /** The range of each fragment in it; empty where the renderer can't tell, or the app sent another prompt. */
  readonly spans: readonly FragmentSpan[];
  /** The name of the renderer. */
  readonly renderer: string;
  /** The conversation, oldest first: the very objects that were sent. */
  readonly messages: readonly UIMessage[];
  /** The body that the app and contextree made. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Names of the request's headers; their values are never kept. */
  readonly headerNames: readonly string[];
  /** What the transport reported: see `RequestNote.tell`. */
  readonly told: Told;
  /** The model that answered, as the transport or the answer's metadata report it (`modelId`, `model`); absent otherwise. */
  readonly model?: string;
  /** Token counts of all steps together, as the transport or the answer's metadata report them (`usage`); absent otherwise. */
  readonly usage?: MeasuredUsage;
  /** How many calls of the model the answer shows so far. */
  readonly steps: number;
  /** The sections of the prompt in a provider's order: tools where reported, fragments, messages. Computed on demand. */
  readonly sections: readonly Section[];
  /** The answer's chunks, in order; the same list while it grows. */
  readonly chunks: readonly TimedChunk[];
  readonly status: 'open' | 'done' | 'stopped' | 'failed';
  /** Why it failed. */
  readonly error?: string;
  /** From `at` to the first word, and to the end, in ms; absent until then. */
  readonly firstMs?: number;
  readonly ms?: number;
  /** A copy that is safe to show, copy or export: secrets are masked, also those that were streamed word by word. */
  readonly masked: () => Promise<RecordedRequest>;
  /** Whether chunks are missing at the end, because they exceed the recorder's limit. */
  readonly truncated?: true;
}

/** A chunk of an answer, and when the chat read it, in ms after the request. */
export interface TimedChunk {
  readonly ms: number;
  readonly chunk: UIMessageChunk;
}

/** What a transport reports of a request while it is recorded. Later reports add to earlier ones. */
export interface Told {
  /** `provider:model`, as in `openai:gpt-4o`. */
  readonly model?: string | undefined;
  /** The tools that the model may call, by name, in the order in which it reads them. */
  readonly tools?: Readonly<Record<string, unknown>> | undefined;
  /** Other options of the call: temperature, tool choice. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  /** Tokens, by the AI SDK's names. */
  readonly usage?: unknown;
}

/** Limits of a recording. With several recorders, the greatest limit of each kind applies. */
export interface RecordOptions {
  /** Requests. Default 50. */
  readonly last?: number | undefined;
  /** About as many bytes, all together. Default 8e6. */
  readonly bytes?: number | undefined;
}

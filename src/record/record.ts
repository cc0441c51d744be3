import type { UIMessage, UIMessageChunk } from 'ai';
import type { FragmentSpan } from '../render/renderer.ts';
import type { MeasuredUsage } from '../tokens/usage.ts';
import type { Section } from './sections.ts';

/**
 * A request as its transport got it, and what came back.
 *
 * A record holds content: what people said, what the prompt says, perhaps a key that was pasted. It lives in memory only;
 * take `masked()` of it before it is shown, copied or exported. Of headers it knows the names.
 *
 * A record is a value: it is replaced when something of it changes, but for its chunks, whose list grows.
 */
export interface RecordedRequest {
  /** A UUID. */
  readonly id: string;
  /** The id of the answer, until its server gives it another; and its key, which stays. */
  readonly answerId: string;
  readonly answerKey: string;
  /** The key of the message that the answer hangs on; null for a first one. */
  readonly parentKey: string | null;
  readonly branchId: string;
  /** When it was handed to the transport, in ms since epoch. */
  readonly at: number;
  readonly trigger: 'submit-message' | 'regenerate-message';
  /** How many versions of this answer there were already. */
  readonly attempt: number;
  /** The system prompt: `body.system`, where that is a text, else the rendered fragments; '' for none. */
  readonly system: string;
  /** Which part of it each fragment is; empty where the renderer can't tell, or the app sent other words. */
  readonly spans: readonly FragmentSpan[];
  /** The name of the renderer. */
  readonly renderer: string;
  /** The conversation, oldest first: the very objects that were sent. */
  readonly messages: readonly UIMessage[];
  /** What the app and contextree put into the body. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Names of the request's headers; their values are never kept. */
  readonly headerNames: readonly string[];
  /** What the transport told of itself: see `RequestNote.tell`. */
  readonly told: Told;
  /** The model that answered, as it was told or as the answer's metadata name it (`modelId`, `model`); absent otherwise. */
  readonly model?: string;
  /** Tokens, as they were told or as the answer's metadata tell (`usage`), all steps together; absent otherwise. */
  readonly usage?: MeasuredUsage;
  /** How many calls of the model the answer shows so far. */
  readonly steps: number;
  /** What a provider reads, in its order: tools where they were told, fragments, messages. Computed when asked for. */
  readonly sections: readonly Section[];
  /** What came back, in order; the same list as long as it grows. */
  readonly chunks: readonly TimedChunk[];
  readonly status: 'open' | 'done' | 'stopped' | 'failed';
  /** Why it failed. */
  readonly error?: string;
  /** From `at` to the first word, and to the end, in ms; absent until then. */
  readonly firstMs?: number;
  readonly ms?: number;
  /** What of it may be shown, copied or exported: secrets are masked, also one that came word by word. */
  readonly masked: () => Promise<RecordedRequest>;
  /** Whether chunks are missing at the end, because they are more than a recorder may hold. */
  readonly truncated?: true;
}

/** A part of an answer, and when the chat read it: ms after the request. */
export interface TimedChunk {
  readonly ms: number;
  readonly chunk: UIMessageChunk;
}

/** What a transport tells of a request while it is recorded. Later words add to earlier ones. */
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

/** How much is recorded. The greatest of each counts, where several record. */
export interface RecordOptions {
  /** Requests. Default 50. */
  readonly last?: number | undefined;
  /** About as many bytes, all together. Default 8e6. */
  readonly bytes?: number | undefined;
}

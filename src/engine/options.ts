import type { UIMessage } from 'ai';
import { ContextError, readFrom, reasonOf } from '../errors.ts';
import { isRecord, type ContextFragment } from '../fragment/fragment.ts';
import type { MessageStatus } from '../graph/graph.ts';
import type { Made } from '../record/recorder.ts';
import type { ContextRenderer } from '../render/renderer.ts';
import type { ContextStore } from '../store/store.ts';
import { expectOption, isStore, ownData } from './desk.ts';

/** What an app hands in, and the checks of it: types don't hold for values from JSON, addresses and plain JavaScript. */

/** What to do when another tab moved the head first. */
type ConflictPolicy = 'fork' | 'rebase' | 'error';

/** How an engine is made. */
export interface ContextEngineOptions {
  /** Where the chat lives. Default: one IndexedDB database of the page, named `contextree`. */
  readonly store?: ContextStore | undefined;
  readonly chatId: string;
  readonly userId: string;
  /** Fields of the chat's metadata: those that nobody has set are set by the first write. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** What turns fragments into the system prompt. Default XML. */
  readonly renderer?: ContextRenderer | undefined;
  /** A further check of stored messages, such as the AI SDK's `validateUIMessages`; throws to refuse. */
  readonly validate?: ((messages: UIMessage[]) => unknown) | undefined;
  /** Whether the fragments of `set()` are kept with the chat. Default false. */
  readonly persistFragments?: boolean | undefined;
  /** What happens to a turn when another tab moved the head first. Default `fork`. */
  readonly onConflict?: ConflictPolicy | undefined;
}

/** Which branch a method reads or writes. */
interface BranchOption {
  /** Name or id. Default: the active one. */
  readonly branch?: string | undefined;
}

/** How to resolve. */
export interface ResolveOptions extends BranchOption {
  /** Default: the engine's. */
  readonly renderer?: ContextRenderer | undefined;
  /** Any message of the chat: resolve as if it were the head. */
  readonly at?: string | undefined;
  /** Stops the loading of lazy fragments. */
  readonly signal?: AbortSignal | undefined;
}

/** What a model call needs. */
export interface ResolveResult {
  /** The fragments, rendered; '' without fragments. */
  readonly systemPrompt: string;
  /** The conversation, oldest first. */
  readonly messages: UIMessage[];
  /** @internal How the prompt was rendered; there while requests are recorded. */
  readonly made?: Made;
}

/** What a save returns. */
export interface SaveResult {
  /** The last message of the branch; undefined when there is none. */
  readonly headMessageId: string | undefined;
}

/** Where a turn goes. */
export interface AskOptions extends BranchOption {
  /** The message that it answers; null for a first one. Default: the branch's head. */
  readonly parentId?: string | null | undefined;
  /** The id of the branch, should the turn need one of its own. */
  readonly forkId?: string | undefined;
  /** The id of the reserved answer. */
  readonly id?: string | undefined;
  /** @internal Its key: `key:` and a UUID. */
  readonly key?: string | undefined;
  /** The parts that a continued answer begins with; they show at once. Default: none. */
  readonly answer?: UIMessage | undefined;
  /** Another tab that saves this very turn is refused with `busy`. Default: true where nothing is added but the answer. */
  readonly isSole?: boolean | undefined;
}

/** New words for a message: its text, or its parts. */
export type MessageContent = string | { readonly parts: UIMessage['parts']; readonly metadata?: unknown };

/** Where messages are added. */
export interface AddOptions extends BranchOption {
  /** The message that they hang on; null for first ones. */
  readonly parentId: string | null;
  /** What they were made from, by ids or keys: the first of them keeps it. */
  readonly sources?: readonly string[] | undefined;
}

/** What is asked of a model without keeping any of it. */
export interface RunOptions {
  /** A question, or the answer that is given anew, by id or key. */
  readonly at: string;
  /** In place of the engine's. */
  readonly fragments?: readonly ContextFragment[] | undefined;
  /** In place of the rendered fragments. */
  readonly system?: string | undefined;
  /** New words for the question. */
  readonly message?: MessageContent | undefined;
  /** What goes into the body of the request beside the prompt: which model, say. */
  readonly body?: object | undefined;
  /** Stops it. */
  readonly signal?: AbortSignal | undefined;
}

/** A chat that can ask a model: what `contextree/ai` attaches. */
export interface AttachedChat {
  /** Sends new words in place of a message, as a new version of it. */
  edit(messageId: string, content: MessageContent): Promise<void>;
  /** Asks again: a new version of this answer, or a new answer to this question. */
  regenerate(messageId: string, options?: object): Promise<void>;
  /** Whether something that was sent is not answered yet: it grows, waits for its turn, or is about to go on. */
  readonly isBusy?: boolean;
  /** Asks, and gives the answer as it grows, at last whole. Saves nothing, and calls no tool of the page. Throws as the transport. */
  run?(options: RunOptions): Promise<AsyncIterable<UIMessage>>;
  /** Whether the transport runs no tool for {@link run}: one that asks a server can't promise that. */
  readonly runsDry?: boolean;
}

/** Throws `invalid-options` for an engine that can't be what its options ask for. */
export function expectEngineOptions(options: ContextEngineOptions): void {
  const { chatId, userId, store, metadata, validate, onConflict = 'fork' } = options;
  expectOption(typeof chatId === 'string', 'chatId', 'a text', chatId);
  expectOption(typeof userId === 'string', 'userId', 'a text', userId);
  expectOption(isNone(store) || isStore(store), 'store', 'a ContextStore', store);
  const isMetadata = readFrom('metadata', () => isNone(metadata) || isRecord(metadata));
  expectOption(isMetadata, 'metadata', 'a record', metadata);
  ownData(metadata, 'metadata');
  expectOption(isNone(validate) || typeof validate === 'function', 'validate', 'a function', validate);
  expectOption(POLICIES.has(onConflict), 'onConflict', 'fork, rebase or error', onConflict);
}

const POLICIES: ReadonlySet<string> = new Set(['fork', 'rebase', 'error']);

/** Throws `invalid-options` for a turn whose new records could not be found by their ids. */
export function expectIds({ id, forkId }: AskOptions): void {
  expectOption(id === undefined || isId(id), 'id', 'a text that is not empty', id);
  expectOption(forkId === undefined || isId(forkId), 'forkId', 'a text that is not empty', forkId);
}

/** The name without the space around it. Throws `invalid-options` for one that is no text, or empty. */
export function expectName(name: unknown, what: string): string {
  const trimmed = typeof name === 'string' ? name.trim() : '';
  if (trimmed) return trimmed;
  const message = `A ${what} needs a name: got "${reasonOf(name)}".`;
  throw new ContextError('invalid-options', message, { details: { name } });
}

/** Throws `invalid-options` for a status that no message can have. */
export function expectStatus(status: MessageStatus): void {
  expectOption(STATUSES.has(status), 'status', 'complete, streaming or interrupted', status);
}

const STATUSES: ReadonlySet<string> = new Set(['complete', 'streaming', 'interrupted']);

function isId(id: unknown): boolean {
  return typeof id === 'string' && id !== '';
}

function isNone(value: unknown): boolean {
  return value === undefined || value === null;
}

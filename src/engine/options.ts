import type { UIMessage } from 'ai';
import { ContextError, isRecord, readFrom, reasonOf } from '../errors.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import type { MessageStatus } from '../graph/graph.ts';
import type { Made } from '../record/recorder.ts';
import type { ContextRenderer } from '../render/renderer.ts';
import type { ContextStore } from '../store/store.ts';
import { expectOption, isStore, ownData } from './desk.ts';

/** The options and arguments of an app, and their checks: types do not hold for values from JSON, URLs and plain JavaScript. */

/** What to do when another tab moved the head first. */
type ConflictPolicy = 'fork' | 'rebase' | 'error';

/** Options of an engine. */
export interface ContextEngineOptions {
  /** Where the chat is stored. Default: one IndexedDB database of the page, named `contextree`. */
  readonly store?: ContextStore | undefined;
  readonly chatId: string;
  readonly userId: string;
  /** Fields of the chat's metadata; the first write sets those that nobody has set. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** Renders fragments into the system prompt. Default XML. */
  readonly renderer?: ContextRenderer | undefined;
  /** A further check of stored messages, such as the AI SDK's `validateUIMessages`; throws to refuse. */
  readonly validate?: ((messages: UIMessage[]) => unknown) | undefined;
  /** Whether the fragments of `set()` are kept with the chat. Default false. */
  readonly persistFragments?: boolean | undefined;
  /** What happens to a turn when another tab moved the head first. Default `fork`. */
  readonly onConflict?: ConflictPolicy | undefined;
}

/** The branch that a method reads or writes. */
interface BranchOption {
  /** Name or id. Default: the active one. */
  readonly branch?: string | undefined;
}

/** Options of `resolve()`. */
export interface ResolveOptions extends BranchOption {
  /** Default: the engine's. */
  readonly renderer?: ContextRenderer | undefined;
  /** Any message of the chat: resolve as if it were the head. */
  readonly at?: string | undefined;
  /** Stops the loading of lazy fragments. */
  readonly signal?: AbortSignal | undefined;
}

/** The input of a model call. */
export interface ResolveResult {
  /** The fragments, rendered; '' without fragments. */
  readonly systemPrompt: string;
  /** The conversation, oldest first. */
  readonly messages: UIMessage[];
  /** @internal How the prompt was rendered; present while requests are recorded. */
  readonly made?: Made;
}

/** The result of `save()`. */
export interface SaveResult {
  /** The last message of the branch; undefined when there is none. */
  readonly headMessageId: string | undefined;
}

/** Where a turn goes. */
export interface AskOptions extends BranchOption {
  /** The message that the turn follows; null for a first one. Default: the branch's head. */
  readonly parentId?: string | null | undefined;
  /** The id of the branch that is made if the turn needs one. */
  readonly forkId?: string | undefined;
  /** The id of the reserved answer. */
  readonly id?: string | undefined;
  /** @internal Its key: `key:` and a UUID. */
  readonly key?: string | undefined;
  /** The message that a continued answer begins with; it shows at once. Default: none. */
  readonly answer?: UIMessage | undefined;
  /**
   * Whether a second tab that saves this very turn is refused with `busy`. Default: true where all messages of the turn are
   * already saved.
   */
  readonly isSole?: boolean | undefined;
}

/** New content of a message: its text, or its parts. */
export type MessageContent = string | { readonly parts: UIMessage['parts']; readonly metadata?: unknown };

/** Where messages are added. */
export interface AddOptions extends BranchOption {
  /** The message that they follow; null for first ones. */
  readonly parentId: string | null;
  /** The ids or keys of the messages that they were made from; the first new message keeps them. */
  readonly sources?: readonly string[] | undefined;
}

/** Options of a request whose answer is not kept. */
export interface RunOptions {
  /** A question, or the answer to give anew, by id or key. */
  readonly at: string;
  /** Replaces the engine's fragments. */
  readonly fragments?: readonly ContextFragment[] | undefined;
  /** Replaces the rendered fragments. */
  readonly system?: string | undefined;
  /** New content of the question. */
  readonly message?: MessageContent | undefined;
  /** Fields for the body of the request beside the prompt, such as the model. */
  readonly body?: object | undefined;
  /** Stops the request. */
  readonly signal?: AbortSignal | undefined;
}

/** A chat that can call a model: what `contextree/ai` attaches. */
export interface AttachedChat {
  /** Sends new content in place of a message, as a new version of it. */
  edit(messageId: string, content: MessageContent): Promise<void>;
  /** Asks again: a new version of this answer, or a new answer to this question. */
  regenerate(messageId: string, options?: object): Promise<void>;
  /** Whether a sent message has no complete answer yet: it grows, is queued, or is about to continue. */
  readonly isBusy?: boolean;
  /**
   * Calls a model, and yields the answer as it grows, the complete one last. Saves nothing, and runs no tool of the page.
   * Throws the transport's errors.
   */
  run?(options: RunOptions): Promise<AsyncIterable<UIMessage>>;
  /** Whether the transport runs no tool for {@link run}: one that calls a server can't promise that. */
  readonly runsDry?: boolean;
}

/** Throws `invalid-options` for options that an engine can't be made with. */
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

/** Throws `invalid-options` for ids under which new records could not be found. */
export function expectIds({ id, forkId }: AskOptions): void {
  expectOption(id === undefined || isId(id), 'id', 'a text that is not empty', id);
  expectOption(forkId === undefined || isId(forkId), 'forkId', 'a text that is not empty', forkId);
}

/** The trimmed name. Throws `invalid-options` for a value that is no text, or empty. */
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

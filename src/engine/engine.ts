import type { UIMessage } from 'ai';
import { isRecord, readFrom, refuseToLoad } from '../errors.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import { createId } from '../fragment/id.ts';
import { normaliseMessage } from '../fragment/message.ts';
import type { MessageStatus } from '../graph/graph.ts';
import type { Finding } from '../graph/verify.ts';
import type { GraphData } from '../graph/visualize.ts';
import type { CacheVerdict } from '../record/explainCache.ts';
import type { RecordedRequest, RecordOptions } from '../record/record.ts';
import type { RecordDesk } from '../record/recorder.ts';
import { InMemoryContextStore } from '../store/memory.ts';
import type { StoreDelta } from '../store/store.ts';
import type { EstimateResult } from '../tokens/estimate.ts';
import type { CallFacts } from './calls.ts';
import { asContextError, expectOption, ownData, ownOptions } from './desk.ts';
import type { ContextSnapshot, EstimateOptions, InspectOptions } from './inspect.ts';
import type { AskOptions, ResolveOptions, ResolveResult, SaveResult } from './options.ts';
import { originOf, type FragmentOrigin } from './origin.ts';
import type { PastGraph } from './past.ts';
import type { Questions } from './questions.ts';
import type { Repair } from './repair.ts';
import type { Session } from './session.ts';
import { Verbs } from './verbs.ts';

/**
 * One chat, as one tab works on it: the fragments of its prompt, the pending messages, and the graph behind them.
 *
 * Nothing is read before the first asynchronous method, and nothing is written before the first write. Each method is one
 * transaction of the store and one `setState`. What the state shows is saved, or `saveState` says that it is not.
 */
export class ContextEngine extends Verbs {
  #session: Session | undefined;
  #opening: Promise<Session> | undefined;
  #ready: Promise<void> | undefined;
  #unsubscribe: (() => void) | undefined;

  // ------------------------------------------------------------------ coming to the chat

  /**
   * Reads the chat, its active branch and its last messages, once. Writes nothing. Rejects with `wrong-user`, or with the
   * store's error; the next call tries again.
   */
  ready(): Promise<void> {
    this.#ready ??= this.opened().then(() => undefined);
    return this.#ready;
  }

  protected override opened(code?: 'saves' | 'tree'): Promise<Session> {
    const opening = (this.#opening ??= this.#open());
    if (!code || this.#session?.[code]) return opening;
    const loading = opening.then((session) => session.load(code));
    // Later calls wait for the code, too, and don't fail with it.
    this.#opening = loading.catch(() => opening);
    this.#opening.catch(() => {});
    return loading;
  }

  async #open(): Promise<Session> {
    try {
      const { Session } = await import('./session.ts').catch(refuseToLoad);
      this.#session ??= new Session(this.desk);
      // Listen before the first read, so that no notice of another tab is missed.
      if (!this.desk.isDisposed) this.#unsubscribe ??= this.store.subscribe(this.#session.writer.others.hear);
      await this.#session.open();
      return this.#session;
    } catch (error) {
      this.#opening = this.#ready = undefined;
      this.#stopListening();
      this.desk.publish({ status: 'error', error: asContextError(error) });
      throw error;
    }
  }

  protected override get questions(): Questions | undefined {
    return this.#session?.questions;
  }

  /** Removes fragments and pending messages: those with this id, or this very fragment. */
  override unset(idOrFragment: string | ContextFragment): this {
    super.unset(idOrFragment);
    this.#session?.writer.others.catchUp();
    return this;
  }

  /** Stops the engine's listeners, and its own listening. Streams go on, and their words are still saved, or tried again. */
  dispose(): void {
    this.desk.isDisposed = true;
    this.#stopListening();
    this.#session?.dispose();
    this.desk.listeners.clear();
  }

  #stopListening(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
  }

  // ------------------------------------------------------------------ turns

  /**
   * The system prompt and the messages for a model call, saved and pending ones, exactly as `save()` would write them. Lazy
   * fragments are loaded each time. Costs only what is new since the last call. Don't change the messages: they are stored
   * objects.
   */
  async resolve(options?: ResolveOptions): Promise<ResolveResult> {
    const own = ownOptions(options);
    return (await this.opened()).resolve(own);
  }

  /**
   * Writes all pending messages in one transaction. A changed message of the chain forks; `branch: false` replaces it in place.
   * With nothing pending it writes nothing, unless the chat does not exist yet. Rejects with the store's error, and with
   * `invalid-options` for a `branch` that is a name (see `switchBranch()`); the messages then stay pending.
   */
  async save(options?: { readonly branch?: boolean }): Promise<SaveResult> {
    const { pending } = this.desk;
    const { branch = true } = { ...ownOptions(options) };
    expectOption(typeof branch === 'boolean', 'branch', 'true or false: it names no branch', branch);
    return (await this.opened('saves')).saves.save(pending, !branch);
  }

  /**
   * Writes a turn (usually one user message) and a reserved answer in one durable transaction; resolves to the answer's id,
   * which is then the head, and shows with its first part. Equal messages of the branch are not written again; different
   * content under an id of the branch makes a version. A turn whose parent is not the branch's head makes a branch; a branch
   * that another tab deleted comes back. If the disk refuses, it still resolves, and the turn is kept in memory. Rejects with
   * `busy` where another tab answers the same question, or an answer grows here under the same id.
   */
  async ask(message: UIMessage | readonly UIMessage[], options?: AskOptions): Promise<string> {
    const turn = readFrom('The messages', () => [message].flat()).map((one) => normaliseMessage(one));
    const own = { ...ownOptions(options) };
    return (await this.opened()).turns.ask(turn, own);
  }

  /**
   * Updates a message with new content, or with a function of the saved message. `streaming`: a draft, of which at most two a
   * second reach the disk; `complete` and `interrupted` end the turn, durably; without a status, a durable update that keeps
   * the status. A settled message becomes `streaming` again when its answer is continued: other tabs get `busy` until it ends.
   * An answer that ends without a word is removed again. `call`: the facts of the request, given with its end, see `calls()`.
   * Rejects with `message-not-found`, `invalid-messages`, and `invalid-options` for ending a settled message. A refusing disk
   * does not reject: the words stay in memory and are tried again.
   */
  async updateMessage(
    id: string,
    message: UIMessage | ((saved: UIMessage) => UIMessage),
    status?: MessageStatus,
    call?: CallFacts,
  ): Promise<void> {
    const own = typeof id === 'string' && !id.startsWith('key:') ? { id } : {};
    const data =
      typeof message === 'function' ? message : normaliseMessage({ ...ownOptions(message), ...own });
    const facts = ownData(call, 'call');
    return (await this.opened()).turns.updateMessage(id, data, status, facts);
  }

  /**
   * Changes the title (null removes it) and merges metadata, shallow. Rejects with `invalid-options`, naming the path, for a
   * value that can't be read, is no plain data, or is nested deeper than 128 levels.
   */
  async updateChat(updates: {
    readonly title?: string | null;
    readonly metadata?: Readonly<Record<string, unknown>>;
  }): Promise<void> {
    const own = ownData(updates, 'updateChat()');
    expectOption(isRecord(own), 'updates', 'a record', own);
    const { title = null, metadata = {} } = own;
    expectOption(title === null || typeof title === 'string', 'title', 'a text, or null', title);
    expectOption(isRecord(metadata), 'metadata', 'a record', metadata);
    return (await this.opened()).writer.facts.updateChat(own);
  }

  /** Adds usage (numbers, nested ones too) to the chat's `metadata.usage`, atomically. Rejects as `updateChat()` does. */
  async trackUsage(usage: Readonly<Record<string, unknown>>): Promise<void> {
    const own = ownData(usage, 'trackUsage()');
    expectOption(isRecord(own), 'usage', 'a record', own);
    return (await this.opened()).writer.facts.trackUsage(own);
  }

  /** @internal The fields of a named record. Reads first what other tabs wrote, which also reveals that data was cleared. */
  async readFields(name: string): Promise<Readonly<Record<string, unknown>>> {
    return (await this.opened()).writer.facts.readFields(name);
  }

  /**
   * @internal Saves fields of a named record beside the chat, as a turn is saved: `saveState` includes them. null removes a
   *   field.
   */
  async keepFields(key: string, value: Readonly<Record<string, unknown>>): Promise<void> {
    const own = ownData(value, 'keepFields()');
    return (await this.opened()).writer.facts.keepFields(key, own);
  }

  /** Loads earlier messages of the active chain into `state.messages`. */
  async loadMore(count?: number): Promise<void> {
    return (await this.opened()).loadMore(count);
  }

  /** Tries at once to save what is only in memory. Rejects with the reason when it still can't be saved. */
  async retry(): Promise<void> {
    return (await this.opened()).writer.line.flush();
  }

  // ------------------------------------------------------------------ what a model reads

  /**
   * What the next call would read, in tokens and US dollars: in all, and for each fragment and message. Works offline, at any
   * message, on any branch; `fragments` and `messages` replace those that are set. Costs only what was not counted before.
   * Rejects as `resolve()` does for values that can't be read, loaded or rendered.
   */
  async estimate(
    model?: string | EstimateOptions,
    options?: Omit<EstimateOptions, 'modelId'>,
  ): Promise<EstimateResult> {
    const [asked, more] = [ownOptions(model), ownOptions(options)];
    return (await this.opened()).estimate(asked, more);
  }

  /**
   * The prompt and the chat as JSON: works offline, at any message and on any branch. A fragment that fails is left out, with
   * the reason. Costs what is new since the last call, and writing the lists.
   */
  async inspect(options?: InspectOptions): Promise<ContextSnapshot> {
    const own = ownOptions(options);
    return (await this.opened()).inspect(own);
  }

  /** The chat as a graph of previews. Complete once the engine is ready. */
  graph(options?: { readonly at?: undefined }): GraphData;
  /**
   * The graph as it was at a time (ms since epoch): the messages up to then, and the names, branches and checkpoints that the
   * operation log of this device remembers; `isPartial` where the log can't tell.
   */
  graph(options: { readonly at: number }): Promise<PastGraph>;
  graph({ at }: { readonly at?: number | undefined } = {}): GraphData | Promise<PastGraph> {
    if (at !== undefined) return this.#past(at);
    return this.questions?.graph() ?? { chatId: this.chatId, nodes: [], branches: [], checkpoints: [] };
  }

  async #past(at: number): Promise<PastGraph> {
    const { writer } = await this.opened();
    const { pastGraph } = await import('./past.ts').catch(refuseToLoad);
    return pastGraph(at, writer, writer.history?.entries ?? []);
  }

  // ------------------------------------------------------------------ all of the chat

  /**
   * What is wrong with the chat as it is stored: rings, orphans, heads that lead nowhere, lost bodies. [] for an intact one.
   */
  async verify(): Promise<readonly Finding[]> {
    return (await this.repair({ preview: true })).findings;
  }

  /**
   * Makes every remaining message reachable, in one transaction, and deletes none. With `preview` it only reports what it would
   * do. Lost bodies are only named.
   */
  async repair(options?: { readonly preview?: boolean }): Promise<Repair> {
    const { preview } = { ...ownOptions(options) };
    const { writer } = await this.opened();
    const { repairChat } = await import('./repair.ts').catch(refuseToLoad);
    return repairChat(writer, preview === true);
  }

  /** A child engine in memory: the same fragments, no messages. */
  fork(): ContextEngine {
    const child = new ContextEngine({
      ...this.desk.options,
      store: new InMemoryContextStore(),
      chatId: createId(),
      persistFragments: false,
    });
    child.set(...this.desk.prompt.list());
    return child;
  }

  // ------------------------------------------------------------------ recorded requests

  /** @internal Keeps the recorded requests, while somebody records. */
  get recording(): RecordDesk | undefined {
    return this.desk.recorders.size > 0 ? this.desk : undefined;
  }

  /**
   * Records what the chat's transport gets and returns, in memory, until the result is called; recorded requests stay. All
   * recorders share one record, with the greatest of their limits.
   */
  record(options?: RecordOptions): () => void {
    const { recorders } = this.desk;
    const user = { ...ownOptions(options) };
    recorders.add(user);
    return () => void recorders.delete(user);
  }

  /** The recorded requests, oldest first; the same array until one of them changes. See {@link record}. */
  requests(): readonly RecordedRequest[] {
    return this.desk.requests;
  }

  /**
   * Why the provider's cache did or did not serve a recorded request: compares it with the latest request of the same model on
   * this answer's chain. Rejects with `invalid-options` for a request that is no longer recorded. At most 10 ms at 10,000
   * messages.
   */
  async explainCache(requestId: string): Promise<CacheVerdict> {
    const { explainCache } = await import('../record/explainCache.ts').catch(refuseToLoad);
    return explainCache(this, requestId);
  }

  /**
   * Where a fragment of the prompt came from, and since when; undefined for one that never was in it. Development builds add
   * the component and its place in the source.
   */
  origin(fragment: ContextFragment): FragmentOrigin | undefined {
    return originOf(fragment, this.desk.prompt.originOf(fragment));
  }

  /** Whether this is a read-only copy, as `openSession()` of `contextree/session` returns. */
  get isReadOnly(): boolean {
    return false;
  }

  /** @internal All that this page knows of the chat, as records. */
  async account(): Promise<StoreDelta> {
    const { writer } = await this.opened();
    const { accountOf } = await import('./account.ts').catch(refuseToLoad);
    return accountOf(writer);
  }
}

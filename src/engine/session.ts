import type { UIMessage } from 'ai';
import { ContextError, reasonOf, refuseToLoad } from '../errors.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import { hasLazy } from '../fragment/copy.ts';
import { markId } from '../graph/marks.ts';
import type { ContextRenderer } from '../render/renderer.ts';
import type { ChatRecords, Revision, StoreDelta } from '../store/store.ts';
import type { EstimateResult } from '../tokens/estimate.ts';
import { ChatFacts } from './chatFacts.ts';
import { expectRenderer, type Desk, expectOption } from './desk.ts';
import type { ResolveOptions, ResolveResult } from './options.ts';
import type { StoredView } from './handles.ts';
import type { ContextSnapshot, EstimateOptions, InspectOptions, Subject } from './inspect.ts';
import type { Comparison } from './compare.ts';
import type { Keeping } from './keptFragments.ts';
import { expectEngineOptions } from './options.ts';
import { Questions } from './questions.ts';
import type { PastGraph } from './past.ts';
import type { Repair } from './repair.ts';
import type { Saves } from './saves.ts';
import { OPERATION } from './state.ts';
import type { Tree } from './tree.ts';
import { Turns } from './turns.ts';
import { PAGE } from './view.ts';
import { Writer } from './writer.ts';

/**
 * The part of an engine that needs its chat.
 *
 * A page paints before it reads. What it paints with (fragments set, messages waiting, a prompt rendered) is the face,
 * in `engine.ts`; all that asks the graph, writes, streams or listens to other tabs stands here, and its code comes
 * with the first read.
 */
export class Session {
  readonly writer: Writer;
  readonly turns: Turns;
  readonly facts: ChatFacts;
  readonly questions: Questions;
  readonly #desk: Desk;
  /** Code that comes when somebody needs it, and why it did not come. */
  #saves: Saves | undefined;
  #tree: Tree | undefined;
  #missing: unknown;
  /** What was kept with the chat on this device when it was opened. */
  #local: ChatRecords['local'];

  constructor(desk: Desk) {
    expectEngineOptions(desk.options);
    this.#desk = desk;
    const writer = (this.writer = new Writer(desk));
    this.turns = new Turns(writer);
    this.facts = new ChatFacts(writer);
    this.questions = new Questions(writer, this.facts);
    desk.ofChat = (before) => ({
      ...writer.view.slices(before),
      ...this.facts.slices(before),
      saveState: writer.line.saveState(before.saveState),
    });
  }

  /** Reads the chat and shows its branch. Rejects with what the store says; it may be called again then. */
  async open(): Promise<void> {
    const { desk, others, replica, view } = this.writer;
    this.#local = await others.open();
    if (Object.keys(this.#local ?? {}).some((name) => name.startsWith(OPERATION))) await this.load('tree');
    view.sync();
    view.restore(this.#local?.['view'] as StoredView | undefined);
    await view.load();
    const kept = replica.chat.marks.get(markId.fragments())?.value;
    desk.prompt.restore(desk.options.persistFragments ? await loadKeeping() : undefined, kept);
    desk.publish({ status: 'ready', error: null });
    others.watch();
  }

  // ------------------------------------------------------------------ code that comes later

  has(code: 'saves' | 'tree'): boolean {
    return (code === 'saves' ? this.#saves : this.#tree) !== undefined;
  }

  /** Loads the code of the pending lane, or of what a person does with branches and checkpoints. Never rejects. */
  async load(code: 'saves' | 'tree'): Promise<this> {
    try {
      if (code === 'saves') this.#saves ??= new (await import('./saves.ts')).Saves(this.writer);
      else if (!this.#tree) {
        const { Tree } = await import('./tree.ts');
        this.#tree = new Tree(this.writer, this.facts, this.#local);
        this.writer.history = this.#tree.history;
      }
    } catch (cause) {
      this.#missing = cause;
    }
    return this;
  }

  /** Throws where its code could not be loaded. */
  get saves(): Saves {
    return this.#saves ?? refuseToLoad(this.#missing);
  }

  /** Throws where its code could not be loaded. */
  get tree(): Tree {
    return this.#tree ?? refuseToLoad(this.#missing);
  }

  // ------------------------------------------------------------------ prompt

  async resolve(given?: ResolveOptions): Promise<ResolveResult> {
    const start = performance.now();
    const options = { ...given };
    const { view } = this.writer;
    const renderer = expectRenderer(options.renderer === undefined ? this.#desk.renderer : options.renderer);
    const fragments = this.#desk.prompt.list();
    const loaded = await loadedFragments(fragments, options.signal);
    const systemPrompt = textOf(renderer, loaded);
    const messages = await this.#resolveMessages(options);
    const branch = view.nameOf(view.branchOrActive(options.branch).id);
    const { length: characters } = systemPrompt;
    this.#desk.emit({ type: 'resolve', branch, messages: messages.length, characters }, start);
    const resolved = { systemPrompt, messages };
    return this.#desk.recorders.size > 0 ? { ...resolved, made: { renderer, fragments, loaded } } : resolved;
  }

  /** The messages that a model would get: with what is pending, where they go on from the head shown. */
  #resolveMessages({ branch, at }: ResolveOptions): Promise<UIMessage[]> {
    const { chains, desk, view } = this.writer;
    return this.writer.inTurn(async () => {
      const target = view.branchOrActive(branch);
      const isHere = at === undefined && target.id === view.activeId;
      if (isHere && desk.pending.length > 0) return (await this.load('saves')).saves.resolve();
      return chains.messages(at === undefined ? view.headOf(target) : view.message(at, target).key);
    });
  }

  async estimate(
    model: string | EstimateOptions = {},
    options: Omit<EstimateOptions, 'modelId'> = {},
  ): Promise<EstimateResult> {
    const { estimateSubject, expectOptions } = await import('./inspect.ts').catch(refuseToLoad);
    const asked = typeof model === 'string' ? { ...options, modelId: model } : model;
    expectOptions(asked);
    return estimateSubject(await this.#subject(asked), asked);
  }

  async inspect(options: InspectOptions = {}): Promise<ContextSnapshot> {
    const { expectOptions, inspectChat } = await import('./inspect.ts').catch(refuseToLoad);
    expectOptions(options);
    return inspectChat(this.writer, await this.#subject(options), this.questions.graph(), options);
  }

  /** What a model call would be made from. */
  async #subject({ messages, renderer, branch, at }: EstimateOptions): Promise<Subject> {
    return {
      fragments: this.#desk.prompt.list(),
      renderer: renderer ?? this.#desk.renderer,
      messages: messages ?? (await this.#resolveMessages({ branch, at })),
      chatMetadata: this.facts.chat()?.metadata,
    };
  }

  // ------------------------------------------------------------------ reading more, and safety

  loadMore(count: number = PAGE): Promise<void> {
    return this.writer.inTurn(async () => {
      expectOption(typeof count === 'number' && count >= 0, 'count', 'a number of messages', count);
      await this.writer.view.load(this.writer.view.loadedCount + count);
      this.#desk.publish();
    });
  }

  /** What is wrong with the chat as it is stored; mended, unless it is only a preview. */
  async repair(options: { readonly preview?: boolean } | undefined): Promise<Repair> {
    const { repairChat } = await import('./repair.ts').catch(refuseToLoad);
    return repairChat(this.writer, options?.preview === true);
  }

  /** The graph as it was. */
  async past(at: number): Promise<PastGraph> {
    const { pastGraph } = await import('./past.ts').catch(refuseToLoad);
    return pastGraph(at, this.writer, this.writer.history?.entries ?? []);
  }

  /** All that is known, as records. */
  async account(): Promise<StoreDelta> {
    const { accountOf } = await import('./account.ts').catch(refuseToLoad);
    return accountOf(this.writer, this.writer.history?.toLocal());
  }

  /** Two messages or branches, side by side. */
  async compare(a: string, b: string): Promise<Comparison> {
    const { compareIn } = await import('./compare.ts').catch(refuseToLoad);
    const { replica, view } = this.writer;
    return this.writer.inTurn(() => compareIn({ view, replica, questions: this.questions }, a, b));
  }

  /** What a message said before it was changed. */
  async revisions(id: string): Promise<readonly Revision[]> {
    const { key } = this.writer.view.message(id);
    return this.#desk.store.revisions(this.#desk.chatId, key);
  }

  /** Tries again at once what could only be kept in memory. */
  retry(): Promise<void> {
    return this.writer.line.retry();
  }

  /** Says to other tabs that this one is about to do something. */
  claim(subject: string): Promise<() => void> {
    return this.writer.streams.claim(subject, 100);
  }

  /** Stops watching others. What is under way goes on. */
  dispose(): void {
    this.writer.others.dispose();
    this.writer.line.dispose();
  }
}

/** The code that loads what is lazy comes when something is. */
async function loadedFragments(
  fragments: readonly ContextFragment[],
  signal: AbortSignal | undefined,
): Promise<readonly ContextFragment[]> {
  if (!fragments.some(hasLazy)) return fragments;
  const { loadFragments } = await import('../fragment/loader.ts').catch(refuseToLoad);
  return loadFragments(fragments, signal ? { signal } : {});
}

function textOf(renderer: ContextRenderer, fragments: readonly ContextFragment[]): string {
  const text: unknown = renderer.render(fragments);
  if (typeof text === 'string') return text;
  const message = `The renderer "${renderer.name}" gave no text: ${reasonOf(text)}.`;
  throw new ContextError('invalid-options', message);
}

/** The code that keeps fragments with a chat comes where `persistFragments` asks for it. */
function loadKeeping(): Promise<Keeping> {
  return import('./keptFragments.ts').then(({ keeping }) => keeping, refuseToLoad);
}

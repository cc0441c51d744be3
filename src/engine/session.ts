import type { UIMessage } from 'ai';
import { refuseToLoad } from '../errors.ts';
import { markId } from '../graph/marks.ts';
import type { ChatRecords } from '../store/store.ts';
import type { EstimateResult } from '../tokens/estimate.ts';
import { type Desk, expectOption, expectRenderer } from './desk.ts';
import type { ContextSnapshot, EstimateOptions, InspectOptions, Subject } from './inspect.ts';
import { expectEngineOptions, type ResolveOptions, type ResolveResult } from './options.ts';
import { loadedFragments, renderedBy } from './prompt.ts';
import { Questions } from './questions.ts';
import type { Saves } from './saves.ts';
import { OPERATION } from './state.ts';
import type { Tree } from './tree.ts';
import { Turns } from './turns.ts';
import { PAGE } from './view.ts';
import { Writer } from './writer.ts';

/**
 * The part of an engine that needs its chat: reads, writes, streams, and other tabs. Its code is loaded with the first read.
 */
export class Session {
  readonly writer: Writer;
  readonly turns: Turns;
  readonly questions: Questions;
  readonly #desk: Desk;
  /** Its code is loaded on first use, see {@link load}. */
  saves!: Saves;
  tree!: Tree;
  /** The local records, as they were when the chat was opened. */
  #local: ChatRecords['local'];

  constructor(desk: Desk) {
    expectEngineOptions(desk.options);
    this.#desk = desk;
    this.writer = new Writer(desk);
    this.turns = new Turns(this.writer);
    this.questions = new Questions(this.writer);
  }

  /** Reads the chat and shows its branch. Rejects with the store's error; a later call tries again. */
  async open(): Promise<void> {
    const { desk, others, replica, view } = this.writer;
    this.#local = await others.open();
    const hasLog = Object.keys(this.#local ?? {}).some((name) => name.startsWith(OPERATION));
    if (hasLog) await this.load('tree').catch(() => {});
    view.sync();
    view.restore(this.#local?.['view']);
    await view.load();
    const kept = replica.chat.marks.get(markId.fragments)?.value;
    const { persistFragments } = desk.options;
    const keeping = persistFragments ? await import('./keptFragments.ts').catch(refuseToLoad) : undefined;
    desk.prompt.restore(keeping, kept);
    this.writer.publish({ status: 'ready', error: null });
    others.watch();
  }

  /** Loads the code of `save()`, or that of branches and checkpoints. */
  async load(code: 'saves' | 'tree'): Promise<this> {
    if (code === 'saves') {
      const { Saves } = await import('./saves.ts').catch(refuseToLoad);
      this.saves ??= new Saves(this.writer);
    } else {
      const { Tree } = await import('./tree.ts').catch(refuseToLoad);
      this.tree ??= new Tree(this.writer, this.#local);
      this.writer.history = this.tree.history;
    }
    return this;
  }

  async resolve(given?: ResolveOptions): Promise<ResolveResult> {
    const start = performance.now();
    const options = { ...given };
    const { desk, view } = this.writer;
    const renderer = expectRenderer(options.renderer === undefined ? desk.renderer : options.renderer);
    const fragments = desk.prompt.list();
    const loaded = await loadedFragments(fragments, options.signal);
    const systemPrompt = renderedBy(renderer, loaded);
    const messages = await this.#resolveMessages(options);
    const branch = view.nameOf(view.branchOrActive(options.branch).id);
    const { length: characters } = systemPrompt;
    desk.emit({ type: 'resolve', branch, messages: messages.length, characters }, start);
    const resolved = { systemPrompt, messages };
    return desk.recorders.size > 0 ? { ...resolved, made: { renderer, fragments, loaded } } : resolved;
  }

  /** The messages for a model, with the pending ones if they end at the shown head. */
  #resolveMessages({ branch, at }: ResolveOptions): Promise<UIMessage[]> {
    const { chains, desk, view } = this.writer;
    return this.writer.inTurn(async () => {
      const target = view.branchOrActive(branch);
      const isHere = at === undefined && target.id === view.active.id;
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

  async #subject({ messages, renderer, branch, at }: EstimateOptions): Promise<Subject> {
    return {
      fragments: this.#desk.prompt.list(),
      renderer: renderer ?? this.#desk.renderer,
      messages: messages ?? (await this.#resolveMessages({ branch, at })),
      chatMetadata: this.#desk.state.getState().chat?.metadata,
    };
  }

  loadMore(count: number = PAGE): Promise<void> {
    return this.writer.inTurn(async () => {
      expectOption(typeof count === 'number' && count >= 0, 'count', 'a number of messages', count);
      await this.writer.view.load(this.writer.view.loadedCount + count);
      this.writer.publish();
    });
  }

  /** Stops watching other tabs; running writes go on. */
  dispose(): void {
    this.writer.others.dispose();
    this.writer.line.dispose();
  }
}

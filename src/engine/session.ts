import type { UIMessage } from 'ai';
import { ContextError, isContextError, refuseToLoad, reasonOf } from '../errors.ts';
import { hasLazy } from '../fragment/lazy.ts';
import { stripReminders } from '../fragment/fold.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import { createId } from '../fragment/id.ts';
import { normaliseMessage } from '../fragment/message.ts';
import {
  chainIds,
  contains,
  forksOf,
  lastUsedWith,
  type Branch,
  type Fork,
  type MessageStatus,
  type NodeInfo,
} from '../graph/graph.ts';
import { graphData } from '../graph/graphData.ts';
import type { GraphData } from '../graph/visualize.ts';
import { fragmentsKey } from '../store/keys.ts';
import type { BranchInfo, CheckpointInfo, StoreNotice, OpNamed, StoreOp } from '../store/store.ts';
import type { EstimateResult } from '../tokens/estimate.ts';
import { expectRenderer, type Desk, type Pending } from './desk.ts';
import type { ContinueOptions, MessageContent, ResolveOptions, ResolveResult, SaveResult } from './engine.ts';
import { Folds } from './folds.ts';
import { History, type Versions } from './history.ts';
import type { ContextSnapshot, EstimateOptions, InspectOptions, Subject } from './inspect.ts';
import { readKept, writeKept } from './keptFragments.ts';
import { expectOption } from './expect.ts';
import { expectEngineOptions, expectIds, expectName, expectStatus } from './options.ts';
import { isRefusal } from './outbox.ts';
import type { Repair } from './repair.ts';
import { Chains } from './resolve.ts';
import { partsOf, planAgain, type PlanPlace, type RefusedSave } from './refusedSave.ts';
import { sameItems } from './same.ts';
import { lastAnswer, planSave, sameContent, type PendingMessage, type SavePlan } from './save.ts';
import { stillWritten, stopDrafts, Streams, type Stream } from './streams.ts';
import { Switches } from './switches.ts';
import { isOvertaken, restoring, Sync } from './sync.ts';
import { checkpointInfo, messageNotFound, PAGE, View } from './view.ts';

/**
 * The part of an engine that needs its chat.
 *
 * A page paints before it reads. What it paints with (fragments set, messages waiting, a prompt rendered) is the face,
 * in `engine.ts`; all that asks the graph, writes, streams or listens to other tabs stands here, and its code comes
 * with the first read. There is one session for each engine, made when that code has come, and it lives as long.
 *
 * Its public methods are those of the face with the same names; the face has waited for {@link open}, and has checked
 * what was handed in. They run one after another. Each is one transaction of the store and one publication.
 */
export class Session {
  readonly #desk: Desk;
  readonly #history: History = new History();
  readonly #view: View;
  readonly #chains: Chains;
  readonly #folds: Folds;
  readonly #streams: Streams;
  readonly #sync: Sync;
  readonly #switches: Switches;
  /** Branches that were deleted here, while an answer may have grown on them. */
  readonly #deletedHere: Set<string> = new Set();
  /** The callback that reads ahead, while it waits. */
  #idle: number | undefined;
  /** The fragments that are kept with the chat, as JSON. */
  #keptFragments = '[]';
  /** The fields that were kept beside the chat, by key. */
  readonly #keptFields: Map<string, Readonly<Record<string, unknown>>> = new Map();

  constructor(desk: Desk) {
    expectEngineOptions(desk.options);
    const history = this.#history;
    this.#desk = desk;
    this.#view = new View(desk, history, {
      own: () => this.#sync.own,
      mayFollow: (branchId) => this.#sync.mayFollow(branchId),
    });
    this.#chains = new Chains({
      history,
      load: (ids) => this.#view.loadBodies(ids),
      validate: desk.options.validate,
      report: (id, error) => desk.emit({ type: 'error', code: error.code, message: error.message, id }),
    });
    this.#folds = new Folds(desk, history, (head) => this.#chains.messages(head));
    this.#streams = new Streams(desk, history, {
      grow: (id, data) => this.#grow(id, data),
      isKept: (id) => this.#sync.isKept(id),
    });
    this.#sync = new Sync(desk, {
      history,
      view: this.#view,
      chains: this.#chains,
      streams: this.#streams,
      keptBeside: () => this.#keptOps(),
      deletedElsewhere: (branchId) => this.#deletedElsewhere(branchId),
    });
    this.#switches = new Switches(desk, {
      history,
      view: this.#view,
      sync: this.#sync,
      drop: (pending) => this.#drop(pending),
    });
    desk.ofChat = (before) => ({ ...this.#view.slices(before), saveState: this.#sync.saveState });
  }

  /** Reads the chat and shows its branch. Rejects with what the store says; it may be called again then. */
  async open(): Promise<void> {
    const chat = await this.#sync.read();
    const records = await this.#storedFragments();
    await this.#view.show(this.#view.branchToOpen());
    // Last, because it is done once: what was taken out before is taken out of these.
    this.#desk.prompt.restore(readKept(chat === undefined ? undefined : records));
    this.#keptFragments = JSON.stringify(records ?? []);
    this.#desk.publish({ status: 'ready', error: null });
    this.#sync.listen();
    this.#readAhead();
  }

  /**
   * Reads what is likely to be shown next when the browser has nothing better to do; where it can't tell, that is read
   * when it is shown. What fails now is met, and told, then. It is done once, so that it can't add up.
   */
  #readAhead(): void {
    if (typeof requestIdleCallback !== 'function') return;
    this.#idle = requestIdleCallback(() => {
      this.#idle = undefined;
      this.#view
        .readAhead()
        .then((messages) => this.#chains.check(messages))
        .catch(() => undefined);
    });
  }

  /** Those of a deleted chat with the same id are not taken over; the first write replaces them. */
  async #storedFragments(): Promise<unknown> {
    const { options, store, chatId } = this.#desk;
    return options.persistFragments ? store.get(fragmentsKey(chatId)) : undefined;
  }

  /** Writes what is kept beside the chat as it was: the fragments, and the fields that this engine kept. */
  #keptOps(): StoreOp[] {
    const { options, chatId } = this.#desk;
    const value: unknown = JSON.parse(this.#keptFragments);
    const ops = [...this.#keptFields].map(([key, fields]): StoreOp => ({ op: 'merge', key, value: fields }));
    return options.persistFragments ? [{ op: 'set', key: fragmentsKey(chatId), value }, ...ops] : ops;
  }

  /** The write of the chat's fragments, when they are kept and changed. */
  #fragmentOps(): OpNamed<'set'>[] {
    if (!this.#desk.options.persistFragments) return [];
    const value = writeKept(this.#desk.prompt.kept(), (name, reason) => {
      this.#desk.emit({
        type: 'error',
        code: 'invalid-fragment',
        message: `Fragment "${name}" is not kept: ${reason}`,
      });
    });
    return JSON.stringify(value) === this.#keptFragments
      ? []
      : [{ op: 'set', key: fragmentsKey(this.#desk.chatId), value }];
  }

  async resolve(given: ResolveOptions | undefined, start: number): Promise<ResolveResult> {
    const options = { ...given };
    const systemPrompt = await this.#renderLoaded(options);
    const messages = await this.#serial(() => this.#resolveMessages(options));
    const branch = this.#view.branchOrActive(options.branch).name;
    this.#desk.emit(
      { type: 'resolve', branch, messages: messages.length, characters: systemPrompt.length },
      start,
    );
    return { systemPrompt, messages };
  }

  async #renderLoaded({ renderer, signal }: ResolveOptions): Promise<string> {
    const asked = expectRenderer(renderer === undefined ? this.#desk.renderer : renderer);
    const text: unknown = asked.render(await this.#loadedFragments(signal));
    if (typeof text === 'string') return text;
    throw new ContextError(
      'invalid-options',
      `The renderer "${asked.name}" gave no text: ${reasonOf(text)}.`,
    );
  }

  /** The code that loads what is lazy comes when something is. */
  async #loadedFragments(signal: AbortSignal | undefined): Promise<readonly ContextFragment[]> {
    const fragments = this.#desk.prompt.list();
    if (!fragments.some(hasLazy)) return fragments;
    const { loadFragments } = await import('../fragment/loader.ts').catch(refuseToLoad);
    return loadFragments(fragments, signal ? { signal } : {});
  }

  async #resolveMessages({ branch, at }: ResolveOptions): Promise<UIMessage[]> {
    if (at !== undefined) return [...(await this.#chains.messages(this.#view.node(at).id))];
    const target = this.#view.branchOrActive(branch);
    if (target.id !== this.#view.activeId || this.#desk.pending.length === 0)
      return [...(await this.#chains.messages(this.#view.headOf(target.id)))];
    const { base, replaced, tail } = await this.#plan(this.#desk.pending, false);
    const saved = await this.#chains.messages(base);
    const changed = new Set(await this.#chains.sound([...replaced.values()]));
    const kept = replaced.size === 0 ? saved : saved.map((message) => replaced.get(message.id) ?? message);
    return [
      ...kept.filter((message) => !replaced.has(message.id) || changed.has(message)),
      ...(await this.#chains.sound(tail)),
    ];
  }

  save(options: { readonly branch?: boolean } | undefined, pending: readonly Pending[]): Promise<SaveResult> {
    const { branch = true } = { ...options };
    expectOption(typeof branch === 'boolean', 'branch', 'true or false: it names no branch', branch);
    return this.#serial(() => this.#save(!branch, pending));
  }

  async #save(inPlace: boolean, pending: readonly Pending[]): Promise<SaveResult> {
    const start = performance.now();
    await this.#prepare();
    const taken = pending.filter((one) => this.#desk.pending.includes(one));
    const isSaved = (id: string): boolean => this.#history.graph.nodes.has(id);
    for (const part of partsOf(taken, this.#sync.refusedSave, isSaved)) {
      const { ops, forkId } = await this.#saveAs(part, { inPlace, messages: taken });
      this.#drop(part);
      await this.#show();
      const ids = ops.flatMap((op) => (op.op === 'insert' || op.op === 'replace' ? [op.id] : []));
      if (forkId !== undefined) this.#emitBranch('create', forkId);
      if (ids.length > 0) this.#desk.emit({ type: 'save', branch: this.#view.active().name, ids }, start);
    }
    this.#desk.publish();
    return { headMessageId: this.#view.head() ?? undefined };
  }

  /** Carries a plan out; another one, if a message has changed elsewhere since it was made. */
  async #saveAs(planned: readonly Pending[], { inPlace, messages }: SaveCall): Promise<SavePlan> {
    const place = this.#placeOf(planned, inPlace);
    const repeat = (): Promise<SaveResult> => this.#save(inPlace, messages);
    const carryOut = (plan: SavePlan): Promise<SavePlan> =>
      this.#commitPlan(plan, { messages, planned, plan, place, repeat });
    const again = planAgain(this.#sync.refusedSave, planned, place);
    try {
      if (again) return await carryOut(again);
    } catch (error) {
      // What others wrote since may stand against it: it is planned anew then.
      if (isRefusal(error)) throw error;
    }
    try {
      return await carryOut(await this.#plan(planned, inPlace));
    } catch (error) {
      if (!isContextError(error, 'head-moved') || this.#desk.options.onConflict === 'error') throw error;
      await this.#sync.pull();
      return carryOut(await this.#plan(planned, false));
    }
  }

  /** What a plan for these is made for. */
  #placeOf(planned: readonly Pending[], inPlace: boolean): PlanPlace {
    const { nodes } = this.#history.graph;
    const ids = this.#comparedIds(this.#asMeant(planned).map(({ content }) => content));
    return {
      branchId: this.#view.activeId,
      head: this.#view.head(),
      detached: this.#view.at !== null,
      compared: [...new Set(ids)].flatMap((id) => nodes.get(id) ?? []),
      inPlace,
      renames: this.#sync.apart.count,
    };
  }

  async #commitPlan(plan: SavePlan, save: RefusedSave): Promise<SavePlan> {
    const fragments = this.#fragmentOps();
    if (plan.forkId !== undefined) await this.#foreseeFork(plan.base);
    if (plan.ops.length > 0 || fragments.length > 0 || !this.#history.chat) {
      await this.#sync.commit([...plan.ops, ...fragments], { save });
      for (const { value } of fragments) this.#keptFragments = JSON.stringify(value);
    }
    if (plan.forkId !== undefined) await this.#show(plan.forkId);
    return plan;
  }

  /** What a save does, with the reminders that go with what is asked. */
  async #plan(given: readonly Pending[], inPlace: boolean): Promise<SavePlan> {
    const pending = this.#asMeant(given);
    const plain = await this.#planOf(pending, inPlace);
    if (plain.asked.length === 0) return plain;
    const folded = await this.#folds.pending(pending, plain.asked);
    return sameItems(folded, pending) ? plain : this.#planOf(folded, inPlace);
  }

  async #planOf(pending: readonly Pending[], inPlace: boolean): Promise<SavePlan> {
    const history = this.#history;
    const messages = pending.map(({ content }) => content);
    const head = this.#view.head();
    await this.#view.loadBodies(this.#comparedIds(messages));
    const { id, name } = this.#view.active();
    return planSave({
      graph: history.graph,
      messageOf: (id) => history.body(id)?.data,
      branch: { id, name },
      head,
      detached: this.#view.at !== null,
      chain: this.#chainFor(messages),
      pending: messages,
      inPlace,
      isShared: (message) => history.isShared(message, id),
      forkBase: (parentId, role) => history.forkBase(parentId, role, name),
      newId: createId,
    });
  }

  /** What waits, under the ids that its messages have by now. */
  #asMeant(pending: readonly Pending[]): readonly Pending[] {
    return pending.map((one) => {
      if (one.content.kind !== 'message') return one;
      const { message } = one.content;
      const id = this.#sync.apart.meant(message.id, this.#view.activeId);
      return id === message.id ? one : { ...one, content: { ...one.content, message: { ...message, id } } };
    });
  }

  /** The saved messages that a plan compares with: those pending again, and the last assistant's. */
  #comparedIds(pending: readonly PendingMessage[]): string[] {
    const { graph } = this.#history;
    const known = pending.flatMap((one) =>
      one.kind === 'message' && graph.nodes.has(one.message.id) ? [one.message.id] : [],
    );
    const last = lastAnswer(graph, this.#chainFor(pending));
    return last ? [...known, last.id] : known;
  }

  /** The chain shown, where somebody asks what its last answer is. */
  #chainFor(pending: readonly PendingMessage[]): readonly string[] {
    const isAsked = pending.some(({ kind }) => kind === 'last-assistant');
    return isAsked ? chainIds(this.#history.graph, this.#view.head()) : [];
  }

  async continue(turn: readonly UIMessage[], given: ContinueOptions | undefined): Promise<string> {
    if (turn.length === 0 && given?.parentId === undefined)
      throw new ContextError('invalid-messages', 'continue() needs at least one message.');
    const options = { ...given };
    const known = this.#sync.apart.count;
    return this.#serial(() => this.#solely(() => this.#continue(turn, options, known)));
  }

  /** Does what only one tab may do: again, when others wrote first, with that in mind. */
  async #solely<T>(task: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await task();
      } catch (error) {
        if (!isOvertaken(error)) throw error;
        await this.#sync.pullPast(error);
      }
    }
  }

  /** `known`: how many messages had been set apart when the turn was given, with the ids of that time. */
  async #continue(turn: readonly UIMessage[], options: ContinueOptions, known: number): Promise<string> {
    expectIds(options);
    const start = performance.now();
    const at = await this.#prepare(options.branch);
    const lost = this.#deletedElsewhere(at);
    const branch = lost ?? this.#view.branchOrActive(at);
    const id = options.id ?? createId();
    const forkId = options.forkId ?? createId();
    const asMeant = (one: string): string => this.#sync.apart.meant(one, branch.id, known);
    const parentId = options.parentId && asMeant(options.parentId);
    const meant = turn.map((message) => ({ ...message, id: asMeant(message.id) }));
    const ops = await this.#turnOps(meant, branch, { ...options, parentId, id, forkId });
    const back = ops.some(({ op }) => op === 'head') ? restoring(lost) : [];
    const isShown = lost !== undefined || branch.id === this.#view.activeId;
    const inserts = ops.filter((op) => op.op === 'insert');
    if (isShown && ops.some(({ op }) => op === 'branch')) await this.#foreseeFork(inserts[0]?.parentId);
    const [answer, asked] = inserts.toReversed();
    // Where nothing is asked, it is another answer to what was asked before; not where its words are here already.
    const isAnother = asked === undefined && options.answer === undefined;
    const isSole = answer !== undefined && (options.isSole || isAnother);
    if (isSole) this.#refuseBeside(answer.parentId);
    const stream = await this.#streams.begin(id, forkId);
    try {
      const use = isShown ? [showing(ops, branch.id)] : [];
      await this.#sync.commit([...back, ...ops, ...use], { keep: true, isSole });
    } catch (error) {
      this.#giveUp(stream, id);
      throw error;
    }
    await this.#sync.knowAll();
    stream.branchId = this.#landing(id, forkId, branch.id);
    if (isShown) await this.#show(stream.branchId);
    if (stream.branchId === forkId) this.#emitBranch('create', forkId);
    this.#emitStream('start', id, 'streaming', stream, start);
    this.#desk.publish();
    return id;
  }

  #giveUp(stream: Stream | undefined, id: string): void {
    this.#streams.end(stream);
    this.#sync.leave(id);
  }

  /**
   * A second answer to a question that another tab is answering would be an accident, and so would more words for an
   * answer behind which something is being answered already.
   */
  #refuseBeside(questionId: string | null, answerId?: string): void {
    const { graph, foreign } = this.#history;
    const beside = [...foreign].find((id) => graph.nodes.get(id)?.parentId === questionId);
    const behind = (): string | undefined =>
      [...foreign, ...this.#streams.ids()].find((id) => contains(graph, id, answerId ?? ''));
    const other = beside ?? behind();
    if (other !== undefined) throw stillWritten(other);
  }

  /** Where a turn went: to the branch made for it, to the one that it was meant for, or to the `main` of another tab. */
  #landing(answerId: string, ...meant: readonly string[]): string {
    const { branches } = this.#history;
    const holds = (id: string): boolean => this.#history.view(id) === answerId;
    return [...branches.keys()].find(holds) ?? meant.find((id) => branches.has(id)) ?? this.#view.activeId;
  }

  async #turnOps(
    turn: readonly UIMessage[],
    branch: Branch,
    options: ContinueOptions & { id: string; forkId: string },
  ): Promise<StoreOp[]> {
    const parentId =
      options.parentId === undefined ? await this.#parentOf(turn[0], branch) : options.parentId;
    if (parentId !== null) this.#view.node(parentId);
    const { under, fresh } = await this.#newOnesOf(turn, parentId);
    const at = fresh.findLastIndex(({ role }) => role === 'user');
    const asked = fresh[at];
    if (asked)
      fresh[at] = await this.#folds.fold({ message: asked, after: under, between: fresh.slice(0, at) });
    const answer = normaliseMessage({
      ...(options.answer ?? { parts: [] }),
      id: options.id,
      role: 'assistant',
    });
    const ops: StoreOp[] = insertsOf(under, [...fresh, answer]);
    const head = this.#history.view(branch.id);
    if (under === head)
      return [
        ...ops,
        { op: 'head', branchId: branch.id, expected: head, messageId: answer.id, forkId: options.forkId },
      ];
    const base = this.#history.forkBase(under, (fresh[0] ?? answer).role, branch.name);
    return [...ops, { op: 'branch', id: options.forkId, base, messageId: answer.id }];
  }

  /**
   * What a turn hangs on: the head of its branch, or what a message of its id hangs on, to be asked again or in other words.
   * Other words under an id that is known from another conversation only are a new message: an app may number its own.
   */
  async #parentOf(first: UIMessage | undefined, branch: Branch): Promise<string | null> {
    const { graph } = this.#history;
    const known = graph.nodes.get(first?.id ?? '');
    if (!first || !known) return this.#view.headOf(branch.id);
    const { id, parentId } = known;
    if (parentId === null || contains(graph, this.#history.view(branch.id), parentId)) return parentId;
    await this.#view.loadBodies([id]);
    return sameContent(this.#history.body(id)?.data, first) ? parentId : this.#view.headOf(branch.id);
  }

  /** The messages of a turn that are not saved yet, and what they hang on. A changed one gets an id of its own. */
  async #newOnesOf(
    turn: readonly UIMessage[],
    parentId: string | null,
  ): Promise<{ under: string | null; fresh: UIMessage[] }> {
    const { nodes } = this.#history.graph;
    const knownIds = turn.map(({ id }) => id).filter((id) => nodes.has(id));
    await this.#view.loadBodies(knownIds);
    let under = parentId;
    const fresh: UIMessage[] = [];
    for (const message of turn) {
      const isSaved = nodes.has(message.id) && sameContent(this.#history.body(message.id)?.data, message);
      if (isSaved && fresh.length === 0) under = message.id;
      else fresh.push(nodes.has(message.id) ? { ...stripReminders(message), id: createId() } : message);
    }
    return { under, fresh };
  }

  /** A message as `change` is checked already, and has this id. */
  async updateMessage(
    given: string,
    change: UIMessage | ((saved: UIMessage) => UIMessage),
    status: MessageStatus | undefined,
  ): Promise<void> {
    const { apart } = this.#sync;
    const [id, known] = [this.#meant(given), apart.count];
    const info = this.#view.node(id);
    const stream = this.#streams.get(id);
    if (typeof change !== 'function' && stream && info.status === 'streaming' && status === 'streaming')
      return this.#streams.draft(id, { ...change, id }, stream);
    // What comes before it in line may set it apart from another message of its id.
    const own = (): string => apart.idOf(id, known);
    return this.#serial(async () => {
      if (typeof change === 'function') return this.#rewrite(own, change, status);
      const words = { ...change, id: own() };
      const isKept = status === undefined && (await this.#keepWords(words.id, words));
      if (!isKept) await this.#settle(words.id, words, status);
    });
  }

  /** The message that is meant by whoever has words for it: one that grows here, or else one of those shown. */
  #meant(given: string): string {
    const id = this.#streams.idOf(given);
    return this.#streams.get(id) ? id : this.#sync.apart.meant(given, this.#view.activeId);
  }

  /** Durable words of an answer that grows here are a draft that lasts; false for what is to be written in another way. */
  async #keepWords(id: string, data: UIMessage): Promise<boolean> {
    const start = performance.now();
    const stream = this.#streams.get(id);
    const isGrowing = stream && this.#view.node(id).status === 'streaming' && !this.#sync.isKept(id);
    if (!isGrowing || !(await this.#streams.keep(id, data, stream))) return false;
    this.#emitStream('draft', id, 'streaming', stream, start);
    this.#desk.publish();
    return true;
  }

  /** Changes the words that are saved, whoever changes them meanwhile. */
  async #rewrite(
    own: () => string,
    change: (saved: UIMessage) => UIMessage,
    status: MessageStatus | undefined,
  ): Promise<void> {
    for (;;) {
      if (this.#history.abandoned.has(own())) await this.#sync.recover();
      const id = own();
      if (this.#view.node(id).status === 'streaming' && !this.#streams.get(id)) throw stillWritten(id);
      await this.#view.loadBodies([id]);
      const saved = this.#history.body(id)?.data ?? { id, role: 'assistant', parts: [] };
      try {
        return await this.#settle(id, normaliseMessage({ ...change(saved), id }), status);
      } catch (error) {
        if (!isChanged(error)) throw error;
        await this.#sync.pull();
      }
    }
  }

  async #settle(id: string, data: UIMessage, status: MessageStatus | undefined): Promise<void> {
    const { rev: before } = this.#view.node(id);
    const isCut = this.#history.abandoned.has(id);
    if (isCut) await this.#sync.recover();
    // That it was cut off is stored by now; whatever else was, these words know nothing of it.
    const rev = Math.min(before + Number(isCut), this.#view.node(id).rev);
    return this.#solely(() => this.#settleAt(rev, id, data, status));
  }

  /** `rev`: the revision that the words were made from. */
  async #settleAt(
    rev: number,
    id: string,
    data: UIMessage,
    status: MessageStatus | undefined,
  ): Promise<void> {
    const [start, known] = [performance.now(), this.#sync.apart.count];
    const { status: before } = this.#view.node(id);
    const next = this.#nextStatus(id, before, status);
    const isBegun = next === 'streaming' && !this.#streams.get(id);
    if (isBegun) this.#refuseBeside(this.#view.node(id).parentId, id);
    // Without the last word, nobody writes over what another tab said since the message was read.
    const isOurs = this.#sync.own.has(id);
    const stream = isBegun
      ? await this.#streams.begin(id, this.#view.branchHolding(id))
      : this.#streams.get(id);
    try {
      await this.#commitWords(id, data, next, { stream, isOurs, begunAt: isBegun ? rev : undefined });
    } catch (error) {
      if (isBegun) this.#giveUp(stream, id);
      throw error;
    }
    if (next !== 'streaming') this.#streams.end(stream);
    await this.#show();
    this.#emitStream(phaseOf(before, next), this.#sync.apart.idOf(id, known), next, stream, start);
    this.#desk.publish();
  }

  /**
   * A settled message keeps its status, or streams again; only what streams ends. What is written here streams until it
   * ends here, whatever a tab said of it that took this one for dead.
   */
  #nextStatus(id: string, before: MessageStatus, given: MessageStatus | undefined): MessageStatus {
    const isOwn = this.#streams.get(id) !== undefined;
    const status = given ?? (isOwn ? 'streaming' : before);
    expectStatus(status);
    if (status === before || status === 'streaming' || before === 'streaming' || isOwn) return status;
    throw new ContextError(
      'invalid-options',
      `Message "${id}" is ${before}, and can't become ${status} without streaming.`,
      {
        details: { id, before, status },
      },
    );
  }

  async #commitWords(
    id: string,
    data: UIMessage,
    status: MessageStatus,
    { stream, isOurs, begunAt }: Writer,
  ): Promise<void> {
    if (stream) stopDrafts(stream, data.parts.length > 0 ? data : stream.latest);
    await stream?.draft;
    const info = this.#view.node(id);
    const isEnd = info.status === 'streaming' && status !== 'streaming';
    // Words that were drafted are not taken back by an end without any.
    const words = isEnd && data.parts.length === 0 ? (this.#history.body(id)?.data ?? data) : data;
    const isSilent = isEnd && words.parts.length === 0;
    const rev = isOurs || info.status === 'streaming' ? {} : { rev: begunAt ?? info.rev };
    const op: StoreOp = isSilent
      ? this.#sync.silentEnd(id)
      : { op: 'replace', id, data: words, status, ...rev };
    await this.#sync.commit([op], {
      keep: true,
      isSole: begunAt !== undefined,
      behind: () => (isEnd ? restoring(this.#deletedElsewhere(stream?.branchId)) : []),
    });
  }

  /** A branch that another tab deleted. It could not know of words for it; whoever says them has not seen it go. */
  #deletedElsewhere(branchId = ''): Branch | undefined {
    const branch = this.#history.branches.get(branchId);
    return branch?.deletedAt !== undefined && !this.#deletedHere.has(branchId) ? branch : undefined;
  }

  edit(id: string, content: MessageContent): Promise<string> {
    const named = this.#named(id);
    return this.#serial(async () => {
      const start = performance.now();
      await this.#prepare();
      const info = this.#view.node(named());
      const words =
        typeof content === 'string' ? { parts: [{ type: 'text' as const, text: content }] } : content;
      const message = await this.#versionOf(info, words);
      const base = this.#history.forkBase(info.parentId, info.name, this.#view.active().name);
      const forkId = createId();
      await this.#foreseeFork(info.parentId);
      const ops: StoreOp[] = [
        {
          op: 'insert',
          id: message.id,
          parentId: info.parentId,
          data: message,
          status: 'complete',
          createdAt: Date.now(),
        },
        { op: 'branch', id: forkId, base, messageId: message.id },
        { op: 'use', branchId: forkId },
      ];
      await this.#sync.commit(ops, { keep: true });
      await this.#show(forkId);
      this.#emitBranch('create', forkId, start);
      this.#desk.publish();
      return message.id;
    });
  }

  async #versionOf({ parentId, name }: NodeInfo, words: object): Promise<UIMessage> {
    const message = stripReminders(normaliseMessage({ ...words, id: createId(), role: name }));
    return name === 'user' ? this.#folds.fold({ message, after: parentId, between: [] }) : message;
  }

  rewind(messageId: string, pending: readonly Pending[]): Promise<BranchInfo> {
    const named = this.#named(messageId);
    return this.#serial(async () => this.#branchAt(this.#view.node(named()).id, { leaving: pending }));
  }

  restore(checkpoint: string, pending: readonly Pending[]): Promise<BranchInfo> {
    return this.#serial(async () =>
      this.#branchAt(this.#view.findCheckpoint(checkpoint).messageId, { leaving: pending }),
    );
  }

  btw(): Promise<BranchInfo> {
    return this.#serial(async () => {
      const head = this.#history.settledAt(this.#view.head());
      if (head === null)
        throw new ContextError('empty-branch', 'Cannot create btw branch: no messages in conversation');
      return this.#branchAt(head, {});
    });
  }

  /** A branch that ends at a message; with `leaving`, what waits and is dropped, it is the one shown from now on. */
  async #branchAt(
    messageId: string,
    { leaving }: { readonly leaving?: readonly Pending[] },
  ): Promise<BranchInfo> {
    const start = performance.now();
    const named = this.#named(messageId);
    await this.#prepare();
    if (leaving) await this.#foreseeFork(named());
    const id = createId();
    const ops: StoreOp[] = [{ op: 'branch', id, base: this.#view.active().name, messageId: named() }];
    await this.#sync.commit(leaving ? [...ops, { op: 'use', branchId: id }] : ops);
    if (leaving) {
      this.#drop(leaving);
      await this.#show(id);
    }
    this.#emitBranch('create', id, start);
    this.#desk.publish();
    return this.#view.infoOf(id);
  }

  switchBranch(nameOrId: string, pending: readonly Pending[]): Promise<void> {
    return this.#switches.to(() => ({ branchId: this.#view.findBranch(nameOrId).id, at: null }), pending);
  }

  checkout(given: string): Promise<void> {
    const named = this.#named(given);
    return this.#switches.to(() => {
      const { id } = this.#view.node(named());
      const seen = this.#history.seenBranches();
      const heads = seen.filter((branch) => branch.headMessageId === id);
      const branch =
        lastUsedWith(this.#history.graph, heads, id) ?? lastUsedWith(this.#history.graph, seen, id);
      const at = branch?.headMessageId === id ? null : id;
      return { branchId: branch?.id ?? this.#switches.branchId, at };
    });
  }

  renameBranch(nameOrId: string, name: string): Promise<BranchInfo> {
    return this.#serial(async () => {
      const to = expectName(name, 'branch');
      const id = await this.#sync.settleKept(this.#view.findBranch(nameOrId).id);
      await this.#sync.commit([{ op: 'rename-branch', id, name: to }]);
      const at = this.#sync.wayOf(id);
      this.#emitBranch('rename', at);
      this.#desk.publish();
      return this.#view.infoOf(at);
    });
  }

  deleteBranch(nameOrId: string, pending: readonly Pending[]): Promise<void> {
    return this.#serial(async () => {
      const id = await this.#sync.settleKept(this.#view.findBranch(nameOrId).id);
      const isShown = id === this.#view.activeId;
      if (isShown) await this.#view.foresee(this.#view.branchToOpen(id));
      await this.#sync.commit([{ op: 'delete-branch', id }]);
      this.#deletedHere.add(this.#sync.wayOf(id));
      if (isShown) {
        this.#drop(pending);
        await this.#show(this.#view.branchToOpen());
      }
      this.#emitBranch('delete', this.#sync.wayOf(id));
      this.#desk.publish();
    });
  }

  checkpoint(name: string, options: { readonly at?: string } | undefined): Promise<CheckpointInfo> {
    const named = options?.at === undefined ? undefined : this.#named(options.at);
    return this.#serial(async () => {
      const to = expectName(name, 'checkpoint');
      const messageId = named ? this.#view.node(named()).id : this.#history.settledAt(this.#view.head());
      if (messageId === null)
        throw new ContextError('empty-branch', 'Cannot create checkpoint: no messages in conversation');
      await this.#sync.commit([{ op: 'checkpoint', id: createId(), name: to, messageId }]);
      this.#desk.emit({ type: 'checkpoint', action: 'create', name: to, messageId });
      this.#desk.publish();
      return checkpointInfo(this.#view.findCheckpoint(to));
    });
  }

  renameCheckpoint(name: string, next: string): Promise<CheckpointInfo> {
    return this.#serial(async () => {
      const to = expectName(next, 'checkpoint');
      const { id, messageId } = this.#view.findCheckpoint(name);
      await this.#sync.commit([{ op: 'rename-checkpoint', id, name: to }]);
      this.#desk.emit({ type: 'checkpoint', action: 'rename', name: to, messageId });
      this.#desk.publish();
      return checkpointInfo(this.#view.findCheckpoint(to));
    });
  }

  deleteCheckpoint(name: string): Promise<void> {
    return this.#serial(async () => {
      const { id, messageId } = this.#view.findCheckpoint(name);
      await this.#sync.commit([{ op: 'delete-checkpoint', id }]);
      this.#desk.emit({ type: 'checkpoint', action: 'delete', name, messageId });
      this.#desk.publish();
    });
  }

  siblings(id: string): Versions {
    return this.#history.versions(id);
  }

  selectSibling(given: string): Promise<void> {
    const named = this.#named(given);
    return this.#switches.to(() => {
      const { id } = this.#view.node(named());
      const branch = lastUsedWith(this.#history.graph, this.#history.seenBranches(), id);
      if (!branch) throw messageNotFound(id);
      return { branchId: branch.id, at: null };
    });
  }

  forks(): readonly Fork[] {
    return forksOf(this.#history.graph, this.#history.reached());
  }

  node(id: string): NodeInfo | undefined {
    return this.#history.graph.nodes.get(id);
  }

  message(id: string): UIMessage | undefined {
    return this.#history.body(id)?.data;
  }

  matches(message: UIMessage): boolean | undefined {
    const known = this.message(message.id);
    return known && sameContent(known, message);
  }

  loadMore(count: number = PAGE): Promise<void> {
    return this.#serial(async () => {
      expectOption(typeof count === 'number' && count >= 0, 'count', 'a number of messages', count);
      await this.#view.loadShown(this.#view.loadedCount + count);
      this.#desk.publish();
    });
  }

  updateChat(updates: {
    readonly title?: string | null;
    readonly metadata?: Readonly<Record<string, unknown>>;
  }): Promise<void> {
    return this.#serial(async () => {
      await this.#sync.commit([{ op: 'chat', ...updates }]);
      this.#desk.publish();
    });
  }

  trackUsage(usage: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#serial(async () => {
      await this.#sync.commit([{ op: 'chat', usage, usageId: createId() }], { keep: true });
      this.#desk.publish();
    });
  }

  keepFields(key: string, value: Readonly<Record<string, unknown>>): Promise<void> {
    return this.#serial(async () => {
      const before = this.#keptFields.get(key);
      const fields = Object.entries({ ...before, ...value }).filter(([, field]) => field !== null);
      // What is written again meanwhile is not what was said before.
      this.#keptFields.set(key, Object.fromEntries(fields));
      try {
        await this.#sync.commit([{ op: 'merge', key, value }], { keep: true });
      } catch (error) {
        this.#keptFields.set(key, before ?? {});
        throw error;
      }
      this.#desk.publish();
    });
  }

  async estimate(
    model: string | EstimateOptions,
    options: Omit<EstimateOptions, 'modelId'>,
  ): Promise<EstimateResult> {
    const { estimateSubject, expectOptions } = await import('./inspect.ts').catch(refuseToLoad);
    const asked = typeof model === 'string' ? { ...options, modelId: model } : model;
    expectOptions(asked);
    return estimateSubject(await this.#subject(asked), asked);
  }

  async inspect(options: InspectOptions): Promise<ContextSnapshot> {
    const { expectOptions, takeSnapshot } = await import('./inspect.ts').catch(refuseToLoad);
    expectOptions(options);
    const { at, branch } = options;
    const subject = await this.#subject(options);
    const { id, name } = this.#view.branchOrActive(branch);
    const head = at ?? this.#view.headOf(id);
    const isHere = at === undefined && id === this.#view.activeId;
    return takeSnapshot(
      {
        ...subject,
        persisted: await this.#serial(async () => [...(await this.#chains.messages(head))]),
        pending: isHere ? this.#desk.pending.map(({ content }) => content) : [],
        graph: this.graph(),
        chatId: this.#desk.chatId,
        branch: name,
      },
      options,
    );
  }

  /** What a model call would be made from. */
  async #subject({ messages, renderer, ...where }: EstimateOptions): Promise<Subject> {
    return {
      fragments: this.#desk.prompt.list(),
      renderer: renderer ?? this.#desk.renderer,
      messages: messages ?? (await this.#serial(() => this.#resolveMessages(where))),
      chatMetadata: this.#history.chat?.metadata,
    };
  }

  graph(): GraphData {
    const history = this.#history;
    return graphData(
      this.#desk.chatId,
      history.graph.nodes.values(),
      history.seenBranches(),
      history.liveCheckpoints().toReversed(),
      this.#view.activeId,
    );
  }

  repair(options: { readonly preview?: boolean } | undefined): Promise<Repair> {
    return this.#serial(async () => {
      const { repairChat } = await import('./repair.ts').catch(refuseToLoad);
      const write = async (mend: StoreOp): Promise<void> => {
        await this.#sync.commit([mend]);
        await this.#show();
      };
      const { store, chatId } = this.#desk;
      const repair = await repairChat(store, chatId, options?.preview ? undefined : write);
      this.#desk.publish();
      return repair;
    });
  }

  #emitBranch(action: 'create' | 'rename' | 'delete', id: string, start?: number): void {
    const name = this.#history.branches.get(id)?.name ?? id;
    this.#desk.emit({ type: 'branch', action, name, id }, start);
  }

  /** A draft is what shows of an answer, before any of it is stored. */
  #grow(id: string, data: UIMessage): void {
    this.#history.grow(id, data);
    this.#view.revision += 1;
    this.#chains.cut(id);
    this.#desk.publish();
    this.#emitStream('draft', id, 'streaming', this.#streams.get(id));
  }

  #emitStream(
    phase: 'start' | 'draft' | 'end',
    id: string,
    status: MessageStatus,
    stream: Stream | undefined,
    start?: number,
  ): void {
    const branch = this.#view.branchName(stream?.branchId);
    this.#desk.emit({ type: 'stream', phase, branch, id, status }, start);
  }

  /**
   * These wait no longer. They are what waited when the method was called: what was set since, while it stood in line,
   * waits for the next one. Where nothing waits any more, no refused save() is left either.
   */
  #drop(pending: readonly Pending[]): void {
    this.#desk.pending = this.#desk.pending.filter((one) => !pending.includes(one));
    this.#sync.forgetRefused();
  }

  /** Messages wait no longer: where none does, the view may follow other tabs again, and no refused save() is left. */
  follow(): void {
    this.#sync.forgetRefused();
    this.#desk.publish();
    if (this.#sync.isOpen) this.#sync.inBackground(() => this.#view.refresh());
  }

  retry(): Promise<void> {
    return this.#sync.retry();
  }

  /** A store's notice. */
  hear(notice: StoreNotice): void {
    this.#sync.hear(notice);
  }

  /** Stops watching others. What is under way goes on. */
  dispose(): void {
    if (this.#idle !== undefined) cancelIdleCallback(this.#idle);
    this.#sync.dispose();
  }

  /** The id that a message has by then which is named now: what waits before it may be set apart from another tab's. */
  #named(id: string): () => string {
    const { apart } = this.#sync;
    const known = apart.count;
    return () => apart.idOf(id, known);
  }

  /** Writes what was kept, and what was left behind. Gives where a branch is by then, if one is given. */
  async #prepare(branch?: string): Promise<string | undefined> {
    const id = this.#history.findBranch(branch ?? '')?.id ?? branch;
    const at = await this.#sync.settleKept(id ?? '');
    await this.#sync.recover();
    return id === undefined ? undefined : at;
  }

  /** What a branch that is to be shown begins with is read before it is made: what can't be read is told by then. */
  async #foreseeFork(under: string | null | undefined): Promise<void> {
    if (under) await this.#view.foresee(this.#view.activeId, under);
  }

  /** Shows what was written, on another branch if one is given. */
  #show(branchId?: string): Promise<void> {
    const view = this.#view;
    return this.#sync.readBehind(() => (branchId === undefined ? view.refresh() : view.open(branchId)));
  }

  #serial<T>(task: () => Promise<T>): Promise<T> {
    return this.#sync.inTurn(task);
  }
}

/** Who writes words. */
interface Writer {
  readonly stream: Stream | undefined;
  /** Whether this engine wrote the message before this. */
  readonly isOurs: boolean;
  /** The revision that an answer was at when it was let go on; undefined for one that does not begin now. */
  readonly begunAt: number | undefined;
}

/** Whether a write was refused because the words of its message were changed before it. */
function isChanged(error: unknown): boolean {
  return isContextError(error, 'head-moved') && error.details['reason'] === 'rev';
}

function phaseOf(before: MessageStatus, after: MessageStatus): 'start' | 'draft' | 'end' {
  if (after !== 'streaming') return 'end';
  return before === 'streaming' ? 'draft' : 'start';
}

/** A chain of new messages under a parent; the last one, the answer, is reserved. */
function insertsOf(parentId: string | null, messages: readonly UIMessage[]): StoreOp[] {
  const createdAt = Date.now();
  return messages.map((data, i) => ({
    op: 'insert',
    id: data.id,
    parentId: messages[i - 1]?.id ?? parentId,
    data,
    status: i === messages.length - 1 ? 'streaming' : 'complete',
    createdAt,
  }));
}

/** Marks the branch that a turn goes to as the one shown last. */
function showing(ops: readonly StoreOp[], branchId: string): StoreOp {
  const made = ops.find((op) => op.op === 'branch');
  return { op: 'use', branchId: made?.id ?? branchId };
}

/** A call of save(): with `branch: false` in place, and all that it is to save. */
interface SaveCall {
  readonly inPlace: boolean;
  readonly messages: readonly Pending[];
}

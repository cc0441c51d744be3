import { ContextError, isContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import {
  chainIds,
  contains,
  lastUsedWith,
  type Branch,
  type Chat,
  type MessageNode,
} from '../graph/graph.ts';
import type {
  AppendOptions,
  AppendResult,
  ChatRecords,
  ConflictPolicy,
  StoreNotice,
  OpNamed,
  StoreOp,
} from '../store/store.ts';
import { Apart } from './apart.ts';
import { asContextError, type Desk } from './desk.ts';
import type { Busy, History, Own } from './history.ts';
import { KnownChat } from './knownChat.ts';
import { writtenAgain, writtenBeside } from './lostChat.ts';
import { applyLocally, headsIn, isRefusal, MEMORY, Outbox, redirected } from './outbox.ts';
import type { Chains } from './resolve.ts';
import type { RefusedSave } from './refusedSave.ts';
import { Safety } from './safety.ts';
import type { SaveState } from './state.ts';
import type { Streams } from './streams.ts';
import type { View } from './view.ts';

/** How often a chat that others write again, too, is completed before it is read as it is. */
const MOST_TRIES = 5;

/** How often an answer that another tab streams is looked at, in ms: a tab that dies sends no notice. */
const WATCH_INTERVAL = 2000;

/**
 * What goes to the store, and what comes from it.
 *
 * Several tabs write one chat, and a disk may refuse. So a write is more than a call. What was refused before goes
 * first, in order. The store's answer says what became of the write, which may be another branch than the one meant,
 * and is taken in like anything that is read. The store also tells of every change, by number: those of our own writes
 * are known and dropped, any other means that somebody else was here, and what changed since is read.
 *
 * The browser may lose the chat under the open page, too. Then what is here is written again, or added to what another tab
 * has written again, before anything else is written or taken in: see `lostChat.ts`, and {@link KnownChat} for how that is told.
 *
 * All of it, and every method of the session, runs in one line: a task begins when the one before it has ended. One thing
 * goes ahead: where only marks of switches stand in line, which write what is shown, another switch is shown at once.
 */
export class Sync {
  readonly #desk: Desk;
  readonly #history: History;
  readonly #view: View;
  readonly #chains: Chains;
  readonly #streams: Streams;
  readonly #outbox: Outbox;
  readonly #safety: Safety;
  readonly #apart: Apart;
  readonly #chat: KnownChat;
  readonly #keptBeside: () => readonly StoreOp[];
  readonly #deletedElsewhere: (branchId: string) => Branch | undefined;
  readonly own: Own = { has: (id) => this.#streams.get(id) !== undefined || this.#outbox.has(id) };
  /** Where what was seen of branches here went, since something was planned last. */
  readonly #ways: Map<string, string> = new Map();
  #isMetadataMerged = false;
  #tail: Promise<unknown> = Promise.resolve();
  /** How many tasks stand in line, or are under way, that are no marks. */
  #inLine = 0;
  readonly #notices: Set<number> = new Set();
  readonly #ownChanges: Set<number> = new Set();
  #writing = 0;
  /** The branches that took in what was here of others, in the chat that another tab wrote again last. */
  #beside: ReadonlyMap<string, string> = new Map();
  #watchTimer: ReturnType<typeof setTimeout> | undefined;
  /**
   * Whether there may be more than what was read, though nobody tells of it: a tab died, and what it wrote last may still be
   * on its way, or something could not be read.
   */
  #mayGrow = false;
  /** Why what others did could not be read the last time; that is told once, though it is tried again and again. */
  #unread: string | undefined;
  #isOpen = false;
  #isLooking = false;

  constructor(
    desk: Desk,
    session: {
      readonly history: History;
      readonly view: View;
      readonly chains: Chains;
      readonly streams: Streams;
      /** What is kept beside the chat, to be written again with it. */
      readonly keptBeside: () => readonly StoreOp[];
      readonly deletedElsewhere: (branchId: string) => Branch | undefined;
    },
  ) {
    this.#desk = desk;
    this.#history = session.history;
    this.#view = session.view;
    this.#chains = session.chains;
    this.#streams = session.streams;
    this.#keptBeside = session.keptBeside;
    this.#deletedElsewhere = session.deletedElsewhere;
    this.#outbox = new Outbox((id) => this.#history.reached().has(id));
    this.#safety = new Safety(desk, this.#outbox, () => this.retry());
    this.#apart = new Apart(desk, { ...session, outbox: this.#outbox, own: this.own });
    this.#chat = new KnownChat(desk, session.history);
  }

  /** Whether the chat is read, and notices are followed. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether no write waits for a disk that refused it. */
  get isUpToDate(): boolean {
    return this.#outbox.isEmpty;
  }

  /** Whether what is shown may change at once: nothing that reads or writes there, or may lead elsewhere, comes first. */
  get mayShow(): boolean {
    return this.#inLine === 0 && this.isUpToDate;
  }

  /** Whether what was said is safe. */
  get saveState(): SaveState {
    return this.#safety.state;
  }

  /** The save() that the disk refused last, as long as some of its messages wait. */
  get refusedSave(): RefusedSave | undefined {
    return this.#safety.refused;
  }

  /** Some messages wait no longer, and a save() that was refused may go with them. */
  forgetRefused(): void {
    this.#safety.forget();
  }

  /** Reads the chat; undefined where there is none. Rejects with `wrong-user`, or with what the store says. */
  async read(): Promise<Chat | undefined> {
    const records = await this.#desk.store.load(this.#desk.chatId);
    const chat = records.chat?.deletedAt === undefined ? records.chat : undefined;
    this.#checkOwner(chat);
    this.#chat.open(records.chat);
    this.#history.seq = records.seq;
    if (chat) await this.#absorbRemote(records);
    return chat;
  }

  /** Follows what the store tells from now on, and what it told while the chat was read. */
  listen(): void {
    this.#isOpen = true;
    this.#settleNotices();
  }

  #checkOwner(chat: Chat | undefined): void {
    // A chat whose row was lost is told from its messages, and nobody's.
    if (!chat || chat.userId === this.#desk.userId || chat.userId === '') return;
    throw new ContextError(
      'wrong-user',
      `chat "${this.#desk.chatId}" belongs to user "${chat.userId}", not "${this.#desk.userId}"`,
      {
        details: { chatId: this.#desk.chatId, owner: chat.userId, userId: this.#desk.userId },
      },
    );
  }

  /** Tries again at once what the disk refused. Rejects with the reason when it still does. */
  retry(): Promise<void> {
    return this.inTurn(async () => {
      const before = this.#safety.state;
      const fail = (error: unknown): never => {
        this.#safety.fail(asContextError(error), before);
        this.#desk.publish();
        throw error;
      };
      await this.#flush().catch(fail);
      if (this.#safety.isLost) await this.#append([]).catch(fail);
      // What is here could not be added to it.
      if (this.#safety.isLost) fail(this.#safety.state.error);
      const paying = this.#payOwed();
      await paying.catch(() => {});
      await this.#safety.refused?.repeat();
      await paying.catch(fail);
      // The file of an answer that had ended was what it still waited for.
      this.#streams.letGo();
      if (this.#safety.state.state === 'error') this.#safety.succeed(before);
      this.#desk.publish();
    });
  }

  /** One transaction, after what still waits for one. The result is taken in; the caller publishes it. */
  async commit(
    ops: readonly StoreOp[],
    { keep = false, quiet = false, isSole = false, isShown = false, behind, save }: CommitOptions = {},
  ): Promise<void> {
    const before = this.#safety.state;
    if (!quiet) this.#safety.publish({ state: 'saving', pending: this.#outbox.count });
    if (save) this.#safety.refused = undefined;
    const known = this.#apart.count;
    // What waited is written first, and may be set apart then.
    const own = (): readonly StoreOp[] => this.#apart.renamed(ops, known);
    const whole = (): readonly StoreOp[] => [...own(), ...(behind?.() ?? [])];
    try {
      await this.#flush();
      await this.#append([...this.#remaking(own()), ...whole()], undefined, { isSole, isShown });
      this.#outbox.settle(own());
      this.#safety.succeed(before);
    } catch (error) {
      if (isOvertaken(error)) {
        this.#safety.publish(before);
        throw error;
      }
      if (keep && isRefusal(error))
        return this.#keepInMemory(whole(), error, isShown).catch((reason: unknown) => {
          this.#safety.publish(before);
          throw reason;
        });
      if (save && isRefusal(error)) this.#safety.refused = save;
      this.#safety.fail(asContextError(error), before);
      // What is here of the chat is lost there.
      if (isContextError(error, 'wrong-user')) this.#lose(error);
      this.#desk.publish();
      throw error;
    }
  }

  /**
   * Writes; where another tab took an answer for dead and took it back, it is put in its place again. So is the chat,
   * as far as it is known here, when the browser lost it under the open page.
   */
  async #append(ops: readonly StoreOp[], onConflict?: ConflictPolicy, how?: WriteOptions): Promise<void> {
    let attempt: readonly StoreOp[] = ops.map((op) => this.#dated(op));
    let gone: string | undefined;
    let isBack = false;
    for (;;) {
      try {
        await this.#send(attempt, onConflict, { ...how, mainBranchId: gone, gone });
        return;
      } catch (error) {
        if (isContextError(error, 'chat-missing')) {
          const { reason, epoch } = error.details;
          attempt = await (reason === 'another'
            ? this.#behindOther(attempt, how)
            : this.#behindLoss(attempt, Number(epoch ?? 0), how));
          continue;
        }
        const joined = isNotFound(error) && (await this.#join(attempt));
        if (joined) {
          attempt = joined;
          continue;
        }
        const missing = this.#goneBranch(error, attempt);
        const made = this.#withoutRestoring(missing, attempt);
        if (made) {
          attempt = made;
          continue;
        }
        if (missing !== undefined && missing !== gone) {
          gone = missing;
          continue;
        }
        // Another message has its id by now.
        const taken: Insert | undefined = isBack ? takenIn(error, attempt) : undefined;
        const apart = taken && (await this.#apart.fromTaken(taken, attempt));
        if (apart) {
          attempt = apart;
          continue;
        }
        const back =
          isContextError(error, 'message-not-found') && this.#withBack(attempt, error.details['id']);
        if (!back) throw error;
        isBack = true;
        attempt = back;
      }
    }
  }

  /** Gives whether anything had to be written. */
  async #send(
    ops: readonly StoreOp[],
    onConflict: ConflictPolicy = this.#desk.options.onConflict ?? 'fork',
    {
      isSole = false,
      isShown = false,
      isBegun = false,
      createdAt = this.#chat.row?.createdAt,
      mainBranchId,
      gone,
      epoch = this.#chat.epoch,
    }: SendOptions = {},
  ): Promise<boolean> {
    this.#writing += 1;
    try {
      const options = {
        ...this.#appendOptions(onConflict, mainBranchId),
        epoch,
        asOf: isBegun ? undefined : this.#chat.asOf,
        chatCreatedAt: isBegun ? undefined : createdAt,
      };
      const chatRev = isBegun ? 0 : this.#chat.rev;
      const result = await this.#desk.store.append(
        this.#desk.chatId,
        this.#withMetadata(ops),
        isSole || isBegun ? { ...options, chatRev } : options,
      );
      this.#chat.wrote(result, chatRev, isBegun);
      this.#safety.find();
      if (result.changed) this.#ownChanges.add(result.seq);
      this.#isMetadataMerged = true;
      this.#giveWay(result, ops, gone);
      const moved = headsIn(ops).filter((branchId) => !this.#outbox.movesHead(branchId));
      this.#absorbOwn(result, moved);
      if (result.conflict) await this.#followConflict(result.conflict, ops);
      if (!isShown) await this.#land(result, headsIn(ops));
      return result.changed;
    } catch (error) {
      if (isContextError(error, 'chat-deleted')) this.#deleted(error);
      throw error;
    } finally {
      this.#writing -= 1;
      this.#settleNotices();
    }
  }

  /**
   * The branches as they are seen here when the chat is lost. One on which an answer grows here was to come back at its end,
   * though another tab deleted it: so it does now. And of words that were changed elsewhere, and not read since, those before
   * are what there is.
   */
  #seen(): Branch[] {
    this.#history.makeDo();
    for (const branchId of this.#streams.branchIds())
      if (this.#deletedElsewhere(branchId)) this.#history.reviveBranch(branchId);
    return this.#history.seenBranches();
  }

  /**
   * Writes a chat again that the browser lost, unless another tab did so meanwhile. Gives the operations to follow it. `epoch`:
   * how many chats of its id were deleted behind the loss; nobody counts those before it.
   */
  async #behindLoss(ops: readonly StoreOp[], epoch: number, how?: WriteOptions): Promise<readonly StoreOp[]> {
    if (this.#chat.isDeleted) throw chatDeleted(this.#desk.chatId);
    const seen = this.#seen();
    const { first, ops: again } = writtenAgain(this.#history, this.#chat.row, (node) => this.#insertOf(node));
    const begin: SendOptions = { isBegun: true, isShown: true, mainBranchId: first, epoch };
    try {
      if (await this.#send([...again, ...this.#keptBeside()], 'error', begin)) {
        // What comes behind it is shown already, and may be refused.
        for (const { id, headMessageId: head } of seen)
          if (this.#history.branches.has(id)) this.#history.look(id, this.#history.lastWithWords(head));
        // A checkpoint whose words nobody has leads nowhere.
        const kept = again.flatMap((op) => (op.op === 'checkpoint' ? op.id : []));
        this.#history.keepCheckpoints(new Set(kept));
        return ops.map(atAnyRevision);
      }
    } catch (error) {
      if (!isOvertaken(error) || how?.isSole) throw error;
    }
    return (await this.#join(ops)) ?? ops;
  }

  /** Adds what is here to a chat that another tab wrote again meanwhile. Gives the operations to follow it. */
  async #behindOther(ops: readonly StoreOp[], how?: WriteOptions): Promise<readonly StoreOp[]> {
    const after = await this.#join(ops);
    if (after && how?.isSole) throw overtaken(this.#chat.rev);
    return after ?? ops;
  }

  /**
   * Adds what is here to a chat that another tab wrote again after a loss, before anything is written behind it. Gives the
   * operations as they go on from there; undefined where it is the chat that is known.
   */
  async #join(ops: readonly StoreOp[]): Promise<readonly StoreOp[] | undefined> {
    const { store, chatId } = this.#desk;
    const chat = await store.getChat(chatId);
    // Lost once more by now: it is written again first.
    if (!chat && this.#chat.asOf !== undefined) return ops;
    if (this.#chat.isBegunSince(chat)) throw chatDeleted(chatId);
    if (!this.#chat.isAnother(chat)) return undefined;
    this.#beside = new Map();
    const before = this.#apart.count;
    await this.#readSince(undefined);
    return this.#apart.renamed(
      ops.map((op) => redirected(op, this.#beside)),
      before,
    );
  }

  /**
   * A branch that is gone, though no one could delete it: another tab, which did not know of it, wrote the chat anew. What is
   * said there goes to the first one. That one is neither deleted nor renamed in its place.
   */
  #goneBranch(error: unknown, ops: readonly StoreOp[]): string | undefined {
    const id = isContextError(error, 'branch-not-found') ? error.details['branch'] : undefined;
    const isManaged = ops.some((op) => op.op === 'delete-branch' || op.op === 'rename-branch');
    return typeof id === 'string' && !isManaged ? id : undefined;
  }

  /**
   * The same operations, which make a branch, without bringing it back first: it was deleted, and its deletion was lost.
   * Undefined where they do not.
   */
  #withoutRestoring(id: string | undefined, ops: readonly StoreOp[]): readonly StoreOp[] | undefined {
    const others = ops.filter((op) => op.op !== 'restore-branch' || op.id !== id);
    const isMade = others.some((op) => op.op === 'branch' && op.id === id);
    return isMade && others.length < ops.length ? others : undefined;
  }

  /**
   * The same operations with a message that is not there any more written anew. Where its words are not here, what hangs on
   * it hangs on the one before it whose words are; undefined where nothing does.
   */
  #withBack(ops: readonly StoreOp[], id: unknown): readonly StoreOp[] | undefined {
    const node = typeof id === 'string' ? this.#history.body(id) : undefined;
    if (!node && this.#history.graph.nodes.has(id as string))
      return cutOff(ops, id, this.#history.lastWithWords(id as string));
    if (!node || ops.some((op) => op.op === 'insert' && op.id === node.id)) return undefined;
    const replace = ops.find((op) => op.op === 'replace' && op.id === node.id);
    if (replace?.op !== 'replace') return [this.#insertOf(node), ...ops];
    const { data = node.data, status = node.status } = replace;
    const [messageId, forkId] = [node.id, createId()];
    const branchId = this.#view.branchHolding(messageId);
    // What no branch leads to any more takes nobody from the one shown.
    const place: StoreOp = this.#history.reached().has(messageId)
      ? { op: 'head', branchId, expected: node.parentId, messageId, forkId }
      : { op: 'branch', id: forkId, base: this.#view.active().name, messageId };
    this.#history.forget([messageId]);
    return [{ ...this.#insertOf(node), data, status }, place, ...ops.filter((op) => op !== replace)];
  }

  /** An operation on the message that has the id here: by the time it is carried out, another tab's may have it there. */
  #dated(op: StoreOp): StoreOp {
    const isOnOne = op.op === 'drop' || op.op === 'replace';
    const createdAt = isOnOne ? this.#history.graph.nodes.get(op.id)?.createdAt : undefined;
    return isOnOne && createdAt !== undefined ? { createdAt, ...op } : op;
  }

  #insertOf({ id, parentId, data, status, createdAt, rev }: MessageNode): Insert {
    const isCut = status === 'streaming' && !this.#streams.get(id);
    return { op: 'insert', id, parentId, data, status: isCut ? 'interrupted' : status, createdAt, rev };
  }

  #withMetadata(ops: readonly StoreOp[]): readonly StoreOp[] {
    const { metadata } = this.#desk.options;
    return metadata && !this.#isMetadataMerged ? [...ops, { op: 'chat', metadata }] : ops;
  }

  #appendOptions(onConflict: ConflictPolicy, mainBranchId = this.#desk.mainBranchId): AppendOptions {
    return { userId: this.#desk.userId, epoch: this.#chat.epoch, mainBranchId, onConflict };
  }

  /** What the disk refused is carried out here, and tried again in a while. */
  async #keepInMemory(ops: readonly StoreOp[], error: ContextError, isShown: boolean): Promise<void> {
    const [first] = ops;
    if (first?.op === 'merge') this.#outbox.owe(first, error);
    else await this.#carryOut(ops, error, isShown);
    this.#safety.fail(error, this.#safety.state);
    this.#safety.scheduleRetry();
  }

  async #carryOut(ops: readonly StoreOp[], error: ContextError, isShown: boolean): Promise<void> {
    const options = this.#appendOptions(this.#policyOfKept);
    const result = await applyLocally(this.#history, this.#desk.chatId, ops, options);
    const isNext = this.#outbox.isEmpty;
    this.#outbox.add(ops);
    this.#absorbOwn(result, headsIn(ops));
    if (!isShown) await this.#land(result, headsIn(ops));
    // What is there without what is large in it is safe now. If that is refused, too, all of it waits.
    if (isNext && this.#lighten(error)) await this.#flush().catch(() => {});
  }

  /** Writes what was kept in memory, first to last. Rejects with the first refusal; the rest waits. */
  async #flush(): Promise<void> {
    if (this.#outbox.isEmpty) return;
    await this.recover();
    try {
      while (!this.#outbox.isEmpty) await this.#flushFirst();
    } finally {
      this.#streams.letGo();
    }
  }

  /**
   * Writes what was kept, if the disk takes it by now, before anything is planned that may hang on it. Gives where a branch is
   * by then: another tab may have been faster, and what was seen of it here is elsewhere.
   */
  async settleKept(branchId: string): Promise<string> {
    this.#ways.clear();
    await this.#flush().catch(() => {});
    return this.wayOf(branchId);
  }

  /** Where a branch is by now that something was planned for. */
  wayOf(branchId: string): string {
    return this.#ways.get(branchId) ?? branchId;
  }

  async #flushFirst(): Promise<void> {
    try {
      await this.#outbox.sendFirst((ops) => this.#appendKept([...this.#bringingBack(ops), ...ops]));
    } catch (error) {
      this.#lookAtKept();
      if (!this.#lighten(error)) throw error;
    }
  }

  /** What was to be written, and waits still, is seen where it was said: behind a loss other words were looked at there. */
  #lookAtKept(): void {
    const { graph } = this.#history;
    for (const { branchId, messageId } of this.#outbox.firstHeads) {
      const isSeen = messageId !== null && contains(graph, this.#history.view(branchId), messageId);
      if (!isSeen && graph.nodes.has(messageId ?? '')) this.#history.look(branchId, messageId);
    }
  }

  /** Words that waited were said before another tab deleted their branch, which could not know of them: it comes back. */
  #bringingBack(ops: readonly StoreOp[]): StoreOp[] {
    const away = ops.flatMap((op) => {
      const isAway =
        op.op === 'replace' && this.#outbox.wasReached(op.id) && !this.#history.reached().has(op.id);
      const branch = isAway ? lastUsedWith(this.#history.graph, this.#deletedBranches, op.id) : undefined;
      return restoring(branch);
    });
    return [...this.#remaking(ops), ...away];
  }

  /**
   * A branch that is made here, and is known as deleted, was made before: the disk took that and did not say so, and another
   * tab did not want it. Here it was shown as not saved all the time, so it comes back before anything goes there.
   */
  #remaking(ops: readonly StoreOp[]): StoreOp[] {
    const made = new Set(madeBy(ops));
    return this.#deletedBranches.filter(({ id }) => made.has(id)).flatMap(restoring);
  }

  get #deletedBranches(): Branch[] {
    return [...this.#history.branches.values()].filter(({ deletedAt }) => deletedAt !== undefined);
  }

  /** Where there is no room for the first write, it may do without what is large in it. */
  #lighten(error: unknown): boolean {
    return isContextError(error, 'quota-exceeded') && this.#outbox.lighten(error);
  }

  /** Writes what waits beside the line, each for itself: there may be room for a small file. Rejects with the last refusal. */
  async #payOwed(): Promise<void> {
    let refusal: unknown;
    for (const op of this.#outbox.owed) {
      // An answer that goes on here is written whole when it ends.
      if (op.op === 'replace' && this.#streams.get(op.id)) continue;
      try {
        await this.#appendKept([op]);
        this.#outbox.settle([op]);
      } catch (error) {
        refusal = error;
      }
    }
    if (refusal !== undefined) throw refusal;
  }

  /**
   * Writes what was kept. Another tab may have given one of its messages other words meanwhile, on the very same node.
   * Nobody is there to decide, and what is behind it must not wait for ever: these are written, too, and the store keeps
   * the others as the revision before.
   */
  async #appendKept(ops: readonly StoreOp[], isAgain = false): Promise<void> {
    try {
      await this.#append(ops, this.#policyOfKept);
    } catch (error) {
      const { reason } = isContextError(error, 'head-moved') ? error.details : {};
      if (reason === 'rev') return this.#append(ops.map(atAnyRevision), this.#policyOfKept);
      const taken = takenIn(error, ops);
      if (!taken) throw error;
      const apart = await this.#apart.fromTaken(taken, ops);
      if (!apart && isAgain) throw error;
      await this.#appendKept(apart ?? ops, apart === undefined);
    }
  }

  /**
   * Where another tab was faster, kept turns go to a branch of their own, even if conflicts are errors: whoever sent
   * them is not there to decide any more.
   */
  get #policyOfKept(): ConflictPolicy {
    return this.#desk.options.onConflict === 'rebase' ? 'rebase' : 'fork';
  }

  /** What was set apart from other messages of its id. */
  get apart(): Apart {
    return this.#apart;
  }

  /** Whether words of a message wait for a disk that refused them. */
  isKept(id: string): boolean {
    return this.#outbox.has(id);
  }

  /**
   * Stores what a tab that died left behind: answers that were cut off become interrupted, ones that never began are
   * taken back. Another tab may do the same at the same moment, or go on with the answer; then it is done.
   */
  async recover(): Promise<void> {
    if (this.#history.abandoned.size === 0) return;
    const held = await this.#desk.store.held(this.#desk.chatId);
    const ids = [...this.#history.abandoned].filter((id) => !held.has(id));
    await this.#view.loadBodies(ids);
    try {
      await this.#append(ids.map((id) => this.#endOp(id)));
    } catch (error) {
      if (isRefusal(error)) return;
      if (!isContextError(error, 'head-moved') && !isContextError(error, 'message-not-found')) throw error;
      await this.pull();
    }
  }

  #endOp(id: string): StoreOp {
    const node = this.#history.body(id);
    if (!node || node.data.parts.length === 0) return this.silentEnd(id);
    return { op: 'replace', id, data: node.data, status: 'interrupted', rev: node.rev };
  }

  /**
   * How an answer without a word ends: taken back. One that something hangs on stays where it is, and does not show;
   * what hangs on it may be here only so far, or in the store only, and the store looks for itself.
   */
  silentEnd(id: string): StoreOp {
    return this.#history.isFollowed(id) ? { op: 'replace', id, status: 'interrupted' } : { op: 'drop', id };
  }

  /**
   * A branch that was only made in memory may turn out not to be needed: another tab began the chat first, or the
   * store found the head where it should be. So may one that is `gone`, after a loss. What was meant for it goes where the
   * store put the turn.
   */
  #giveWay({ branches, conflict }: AppendResult, ops: readonly StoreOp[], gone = ''): void {
    const target = ops.findLast((op) => op.op === 'head')?.messageId;
    const landed = branches.find(({ headMessageId }) => headMessageId === target) ?? branches[0];
    const to = conflict?.to.id ?? landed?.id;
    for (const id of [this.#desk.mainBranchId, gone, ...madeBy(ops)]) {
      const known = this.#history.branches.get(id);
      const isOnlyHere = known && (id === gone || known.deviceId === MEMORY);
      if (!isOnlyHere || branches.some((one) => one.id === id)) continue;
      if (to !== undefined) this.#redirect(id, to);
      if (to !== undefined && this.#view.activeId === id) this.#view.activeId = to;
      this.#history.forgetBranch(id);
    }
  }

  /** The rest of what is kept for a branch, and what streams on it, goes to another one. */
  #redirect(from: string, to: string): void {
    const view = this.#history.view(from);
    this.#history.lead(from, to);
    this.#outbox.redirect(from, to);
    this.#streams.redirect(from, to);
    for (const [id, way] of this.#ways) if (way === from) this.#ways.set(id, to);
    this.#ways.set(from, to);
    if (this.#outbox.movesHead(to)) this.#history.look(to, view);
  }

  /** Takes in what this engine wrote and took back; the views of the branches that it `moved` go with it. */
  #absorbOwn(result: AppendResult, moved: readonly string[]): void {
    const [droppedIds, movedIds] = [new Set(result.dropped), new Set(moved)];
    const own: Own = { has: (id) => !droppedIds.has(id) && this.own.has(id) };
    const { branches } = this.#history;
    for (const { id, name, deletedAt } of result.branches)
      if (deletedAt === undefined && branches.get(id)?.deletedAt !== undefined)
        this.#desk.emit({ type: 'branch', action: 'restore', name, id });
    this.#absorb(withOrigin(result), { held: new Set(this.#history.foreign), own });
    this.#history.keep(result.written);
    this.#history.follow(own, (branchId) => movedIds.has(branchId) || this.mayFollow(branchId));
  }

  /**
   * Another tab was faster: what is still kept follows the turn to where it went, and that tab's turn is read. A turn for a
   * branch that was only made in memory met that tab's first one; what is meant for that one stays there.
   */
  async #followConflict(
    { from, to }: NonNullable<AppendResult['conflict']>,
    ops: readonly StoreOp[],
  ): Promise<void> {
    if (headsIn(ops).includes(from.id)) this.#redirect(from.id, to.id);
    await this.readBehind(async () => {
      await this.pull();
      // What was kept was seen on the branch that it was meant for.
      if (!this.#outbox.movesHead(from.id)) this.#history.lookAgain(from.id);
    });
  }

  /** Shows where a write went, if the branch shown is among those that it was `meant` for: it may have met another one. */
  async #land({ conflict }: AppendResult, meant: readonly string[]): Promise<void> {
    const view = this.#view;
    const isMeant = meant.includes(view.activeId);
    await this.readBehind(() => {
      if (conflict && isMeant) return view.open(conflict.to.id);
      const isNowhere = isMeant && !this.#history.branches.has(view.activeId);
      return isNowhere ? view.open(view.branchToOpen()) : view.refresh();
    });
    if (!conflict) return;
    const { policy, from, to } = conflict;
    this.#desk.emit({ type: 'conflict', policy, from: from.name, to: to.name, toId: to.id });
  }

  /** Reads what is behind a write: that is told as written. What can't be read of it now is read in a while. */
  async readBehind(reading: () => Promise<void>): Promise<void> {
    await this.#again(reading).catch((error) => this.#reportQuietly(error));
  }

  /** An answer was not begun here after all: what was read under its id meanwhile, and taken for ours, is another tab's. */
  leave(id: string): void {
    if (!this.own.has(id) && this.#history.leave(id))
      this.inBackground(() => this.#again(() => this.#view.refresh()));
  }

  /** Takes in what others did. */
  #catchUp(): Promise<void> {
    return this.#again(async () => {
      await this.pull();
      await this.#view.refresh();
    });
  }

  /** Reads what others did. What can't be read now is looked at again: somebody may wait for it. */
  async #again(reading: () => Promise<void>): Promise<void> {
    try {
      await reading();
      this.#unread = undefined;
    } catch (error) {
      const { code } = asContextError(error);
      // It is another user's, and stays so: their notices tell when it is gone.
      if (code !== 'wrong-user') this.#mayGrow = true;
      if (this.#unread === code) return;
      this.#unread = code;
      throw error;
    } finally {
      this.#watch();
    }
  }

  /** Reads what changed since, whoever changed it. */
  async pull(): Promise<void> {
    // A chat that was not there may come with a past: one whose deletion was undone. Its answers stream no more.
    await this.#readSince(this.#history.chat && !this.#chat.isDeleted ? this.#history.seq : undefined);
  }

  /** Reads what came before a write that knew nothing of it. */
  async pullPast({ details }: ContextError): Promise<void> {
    const actual = Number(details['actual']);
    // Where the disk took the chat back to an earlier day, nothing is newer than what is known.
    await (actual < this.#chat.rev ? this.#readSince(undefined) : this.pull());
    this.#chat.rev = Math.max(this.#chat.rev, actual);
  }

  /** Reads what others wrote before a write of ours, if anything: whether they let an answer grow that it hangs on. */
  async knowAll(): Promise<void> {
    const isBehind = this.#outbox.isEmpty && this.#history.chat?.rev !== this.#chat.rev;
    if (isBehind) await this.readBehind(() => this.pull());
  }

  async #readSince(since: number | undefined): Promise<void> {
    const { store, chatId } = this.#desk;
    const records = await store.load(chatId, since);
    const { chat, branches, nodes } = records;
    // Of a chat that was written again, a part may be new by its numbers: its row tells which one it is.
    const isPart = !chat && branches.length + nodes.length > 0;
    if (this.#chat.isAnother(isPart ? await store.getChat(chatId) : chat))
      return this.#joinWith(this.#seen());
    // A database that was lost goes on from its last note: what is new in it may have numbers that were heard of before.
    if (since !== undefined && records.seq < since) return this.#readSince(undefined);
    await this.#takeIn(records);
  }

  /**
   * Adds what is here to a chat before anything of it is taken in, and goes on showing what was seen of it. `seen`: the
   * branches as they were seen here before another tab wrote the chat again, or the browser lost some of it.
   */
  async #joinWith(seen: readonly Branch[]): Promise<void> {
    const before = this.#apart.count;
    const head = seen.find(({ id }) => id === this.#view.activeId)?.headMessageId ?? null;
    const shown = this.#history.lastWithWords(head);
    const records = await this.#writeBeside(seen);
    if (records) {
      await this.#takeIn(records);
      for (const { id } of seen) if (!this.#outbox.movesHead(id)) this.#history.lookAgain(id);
      this.#view.activeId = this.#beside.get(this.#view.activeId) ?? this.#view.activeId;
    }
    this.#view.stayWith(this.#apart.idOf(shown, before));
  }

  async #takeIn(records: ChatRecords): Promise<void> {
    this.#refuseStrange(records);
    if (this.#chat.isGone(records)) {
      this.#history.seq = records.seq;
      return this.#deleted(chatDeleted(this.#desk.chatId));
    }
    const isOther = this.#chat.row !== undefined && records.chat?.deletedAt !== undefined;
    // The one that is known here is lost: nobody who deleted that knew it.
    return isOther ? this.#lose(lostChat(this.#desk.chatId)) : this.#absorbRemote(records);
  }

  /** Under the id of a chat that was lost, or that was not begun yet, another user may have begun one: it is theirs alone. */
  #refuseStrange(records: ChatRecords): void {
    if (this.#chat.isGone(records)) return;
    try {
      this.#checkOwner(records.chat);
    } catch (error) {
      this.#lose(asContextError(error));
      this.#desk.publish();
      throw error;
    }
  }

  /**
   * Adds what is here to a chat that another tab wrote again, before anything of it is taken in, until it is there: others
   * may do the same. Undefined where it was lost once more meanwhile: whoever writes it then tells of it.
   */
  async #writeBeside(known: readonly Branch[]): Promise<ChatRecords | undefined> {
    const { store, chatId } = this.#desk;
    const beside = new Map<string, string>();
    const before = this.#apart.count;
    const { graph } = this.#history;
    // What nobody has the words of may be gone by then: what was said before it is not.
    const chains = known.map(({ headMessageId }) => chainIds(graph, headMessageId));
    const isThere = (id: string): boolean => graph.nodes.has(this.#apart.idOf(id, before));
    const lastIn = (chain: readonly string[]): string | null =>
      this.#apart.idOf(chain.findLast(isThere) ?? null, before);
    let isAdded: boolean | undefined = true;
    for (let tries = 0; ; tries += 1) {
      const records = await store.load(chatId);
      if (!records.chat || isAdded === undefined) return undefined;
      this.#refuseStrange(records);
      this.#apart.fromOthers(records);
      const seen = known.map((branch, i) => ({ ...branch, headMessageId: lastIn(chains[i] ?? []) }));
      const lost = this.#chat.isAnother(records.chat) ? this.#chat.row : undefined;
      const here = { lost, seen, beside, insertOf: (node: MessageNode) => this.#insertOf(node) };
      const ops = writtenBeside(this.#history, records, here);
      if (isAdded && ops.length > 0 && tries < MOST_TRIES) {
        isAdded = await this.#add(ops, records.chat, records.branches[0]?.id);
        continue;
      }
      for (const op of this.#keptBeside())
        if (op.op === 'merge' && (await this.#add([op], records.chat)) === undefined) return undefined;
      this.#chat.row = records.chat;
      this.#beside = beside;
      for (const [from, to] of beside) this.#redirect(from, to);
      // What came to nothing is still here.
      if (ops.every(({ op }) => op === 'replace'))
        this.#history.keepOnly(records, (id) => this.#outbox.movesHead(id));
      return records;
    }
  }

  /** Whether the disk took it; undefined where it has lost the chat. Where it refuses, all that is here is lost so far. */
  async #add(
    ops: readonly StoreOp[],
    { createdAt }: Chat,
    mainBranchId?: string,
  ): Promise<boolean | undefined> {
    try {
      await this.#send(ops, 'fork', { isShown: true, createdAt, mainBranchId });
      return true;
    } catch (error) {
      if (isContextError(error, 'chat-missing')) return undefined;
      if (isRefusal(error)) {
        this.#safety.lose(Math.max(1, ops.filter(({ op }) => op === 'insert').length), error);
        this.#safety.scheduleRetry();
        throw error;
      }
      // Others add to it at this moment: what is there by then is read first.
      if (isNotFound(error) || isContextError(error, 'head-moved')) return true;
      this.#reportQuietly(error);
      return false;
    }
  }

  async #absorbRemote(records: ChatRecords): Promise<void> {
    const isWatched = records.nodes.some(({ status }) => status === 'streaming');
    const held = isWatched ? await this.#desk.store.held(this.#desk.chatId) : new Set<string>();
    const left = this.#history.abandoned.size;
    this.#apart.fromOthers(records);
    this.#absorb(records, { held, own: this.own });
    this.#mayGrow ||= this.#history.abandoned.size > left;
    this.#history.seq = records.seq;
    this.#chat.read(records);
    if (records.chat) this.#safety.settle();
    if (records.chat && this.#chat.isDeleted) this.#revive();
    this.#watch();
  }

  #absorb(records: ChatRecords, busy: Busy): void {
    const changed = this.#history.absorb(records, busy);
    for (const id of changed) this.#chains.cut(id);
    if (changed.length > 0 || records.branches.length > 0) this.#view.revision += 1;
  }

  /** A view moves with another tab's turn only when nothing of this engine's is under way on the branch. */
  mayFollow(branchId: string): boolean {
    if (branchId === this.#view.activeId && this.#desk.pending.length > 0) return false;
    if (this.#outbox.movesHead(branchId) || this.#isTakenBack(branchId)) return false;
    return !this.#streams.isOn(branchId);
  }

  /** Whether another tab took an answer for dead, and off the branch, whose end waits for the disk: it is seen there all the same. */
  #isTakenBack(branchId: string): boolean {
    const { graph, branches } = this.#history;
    const seen = this.#history.view(branchId);
    if (seen === null || !this.#outbox.has(seen)) return false;
    return !contains(graph, branches.get(branchId)?.headMessageId ?? null, seen);
  }

  /** A tab that dies says nothing: while another one streams, look from time to time whether it still does. */
  #watch(): void {
    const isAlone = this.#history.foreign.size === 0 && !this.#mayGrow;
    const isIdle = isAlone || this.#chat.isDeleted || this.#desk.isDisposed;
    if (isIdle || this.#watchTimer !== undefined) return;
    this.#watchTimer = setTimeout(() => {
      this.#watchTimer = undefined;
      this.inBackground(() => this.#again(() => this.#lookAtForeign()));
    }, WATCH_INTERVAL);
  }

  async #lookAtForeign(): Promise<void> {
    const held = await this.#desk.store.held(this.#desk.chatId);
    if (!this.#mayGrow && [...this.#history.foreign].every((id) => held.has(id))) return;
    this.#mayGrow = false;
    // All that there is does not tell what was taken back.
    await this.pull();
    await this.#readSince(undefined);
    await this.#view.refresh();
  }

  /** A store's notice. */
  hear(notice: StoreNotice): void {
    if (notice.chatId !== undefined && notice.chatId !== this.#desk.chatId) return;
    if (notice.kind === 'draft') return this.#grew(notice.id);
    if (notice.kind === 'loss') this.inBackground(() => this.#lookForLoss());
    this.#notices.add(notice.seq);
    this.#settleNotices();
  }

  /** The browser lost something, or it came back: adds to the chat what is here, or tells that it is not on the disk. */
  async #lookForLoss(): Promise<void> {
    if (this.#chat.asOf === undefined || this.#chat.isDeleted || this.#desk.isDisposed) return;
    if (await this.#desk.store.getChat(this.#desk.chatId)) {
      await this.#joinWith(this.#seen());
      return this.#view.refresh();
    }
    this.#lose(lostChat(this.#desk.chatId));
  }

  /** What is here of the chat is here only. */
  #lose(error: ContextError): void {
    this.#history.makeDo();
    const words = [...this.#history.reached()].filter(
      (id) => this.#history.body(id) && !this.#outbox.has(id),
    );
    const fields = this.#keptBeside().flatMap((op) => (op.op === 'merge' ? Object.keys(op.value) : []));
    const count = words.length + fields.length;
    if (count > 0) this.#safety.lose(count, error);
  }

  /** An answer that another tab writes has more words. */
  #grew(id: string | undefined): void {
    if (id === undefined || !this.#history.foreign.has(id) || this.#isLooking) return;
    this.#isLooking = true;
    this.inBackground(() => {
      this.#isLooking = false;
      return this.#view.look();
    });
  }

  /** Drops the notices of our own writes, and reads what the others did. */
  #settleNotices(): void {
    if (this.#writing > 0 || !this.#isOpen) return;
    for (const seq of this.#ownChanges) if (this.#notices.delete(seq)) this.#ownChanges.delete(seq);
    if (this.#notices.size === 0) return;
    this.#notices.clear();
    this.inBackground(() => this.#catchUp());
  }

  /** Tasks run one after another, in the order in which they came. */
  inTurn<T>(task: () => Promise<T>): Promise<T> {
    this.#inLine += 1;
    return this.mark(async () => {
      try {
        return await task();
      } finally {
        this.#inLine -= 1;
      }
    });
  }

  /** A task that only writes what is shown already. It stands in line as any other. */
  mark<T>(task: () => Promise<T>): Promise<T> {
    const run = this.#tail.then(task);
    this.#tail = run.catch(() => {});
    return run;
  }

  /** Does what nobody waits for, and shows it. */
  inBackground(task: () => Promise<void>): void {
    const run = this.inTurn(async () => {
      await task();
      this.#desk.publish();
    });
    run.catch((error: unknown) => this.#reportQuietly(error));
  }

  #reportQuietly(error: unknown): void {
    const { code, message } = asContextError(error);
    this.#desk.emit({ type: 'error', code, message });
  }

  #deleted(error: ContextError): void {
    this.#streams.endAll();
    this.#safety.settle();
    if (this.#chat.isDeleted) return;
    this.#desk.publish({ status: 'error', error });
    this.#desk.emit({ type: 'error', code: error.code, message: error.message });
  }

  #revive(): void {
    this.#desk.state.setState({ status: 'ready', error: null });
  }

  /** Stops watching others. What is under way goes on. */
  dispose(): void {
    clearTimeout(this.#watchTimer);
  }
}

/** How a write is made. */
export interface CommitOptions extends WriteOptions {
  /** When the disk refuses: carry it out in memory and try again later, instead of rejecting. */
  readonly keep?: boolean;
  /** What is to be done with it, as it stands once what was kept is written. */
  readonly behind?: () => readonly StoreOp[];
  /** Don't say that something is being saved: nothing is. */
  readonly quiet?: boolean;
  /** The save() that this is: `retry()` repeats it when the disk refuses it. */
  readonly save?: RefusedSave;
}

type Insert = OpNamed<'insert'>;

interface WriteOptions {
  /** Only one tab may do this: it is refused, see {@link isOvertaken}, where others wrote what is not known here. */
  readonly isSole?: boolean;
  /** The caller shows where it leads. */
  readonly isShown?: boolean;
}

interface SendOptions extends WriteOptions {
  /** The chat begins with it: refused, see {@link isOvertaken}, where there is one. */
  readonly isBegun?: boolean;
  /** When the chat was created that it is for. Default: the one that is known. */
  readonly createdAt?: number;
  /** The branch that a chat begins with which is written anew, or that the first one stands for. */
  readonly mainBranchId?: string | undefined;
  /** The branch that it was meant for, and that is not there any more. */
  readonly gone?: string | undefined;
  /** How many chats with this id were deleted before. Default: as is known. */
  readonly epoch?: number;
}

/** Whether a write was refused because others wrote to the chat before it: that is to be read first. */
export function isOvertaken(error: unknown): error is ContextError {
  return isContextError(error, 'head-moved') && error.details['reason'] === 'chat';
}

function overtaken(actual: number): ContextError {
  return new ContextError('head-moved', 'Another tab wrote the chat again.', {
    details: { reason: 'chat', actual },
  });
}

/** The new message whose id another one has, where that is why a write was refused. */
function takenIn(error: unknown, ops: readonly StoreOp[]): Insert | undefined {
  const { reason, id } = isContextError(error, 'head-moved') ? error.details : {};
  const taken = reason === 'id-taken' ? ops.find((op) => op.op === 'insert' && op.id === id) : undefined;
  return taken?.op === 'insert' ? taken : undefined;
}

function isNotFound(error: unknown): boolean {
  return isContextError(error, 'message-not-found') || isContextError(error, 'branch-not-found');
}

/** With the branch that a turn did not get onto, as it is in the store. */
function withOrigin(result: AppendResult): AppendResult {
  const { branches, conflict } = result;
  return conflict?.policy === 'fork' ? { ...result, branches: [conflict.from, ...branches] } : result;
}

/** Brings a branch back that was deleted, if there is one. */
export function restoring(branch: Branch | undefined): StoreOp[] {
  return branch ? [{ op: 'restore-branch', id: branch.id }] : [];
}

/** The branches that these operations make, or might. */
function madeBy(ops: readonly StoreOp[]): string[] {
  return ops.flatMap((op) => (op.op === 'branch' ? [op.id] : op.op === 'head' ? [op.forkId] : []));
}

function chatDeleted(chatId: string): ContextError {
  return new ContextError('chat-deleted', 'This chat was deleted in another tab.', {
    details: { chatId },
  });
}

function lostChat(chatId: string): ContextError {
  const message = 'The browser lost this chat: it is in this page only. Try again to save it from here.';
  return new ContextError('data-loss', message, { details: { chatId } });
}

function atAnyRevision(op: StoreOp): StoreOp {
  if (op.op !== 'replace') return op;
  const { rev: _rev, ...replace } = op;
  return replace;
}

/** Has what hangs on a message whose words nobody has hang on another one; undefined where nothing does. */
function cutOff(ops: readonly StoreOp[], id: unknown, to: string | null): readonly StoreOp[] | undefined {
  const cut = ops.map((op) => {
    if (op.op === 'head' && op.expected === id) return { ...op, expected: to };
    return op.op === 'insert' && op.parentId === id ? { ...op, parentId: to } : op;
  });
  return cut.some((op, i) => op !== ops[i]) ? cut : undefined;
}

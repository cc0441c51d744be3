import type { UIMessage } from 'ai';
import type { CallFacts } from '../engine/calls.ts';
import type { ContextEngine } from '../engine/engine.ts';
import { onLeaving } from '../engine/leaving.ts';
import { sameJson } from '../engine/same.ts';
import { ContextError, isContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import type { MessageStatus } from '../graph/graph.ts';
import { put, sameMessage, withId } from './list.ts';
import { asJson, callsIn, hasWords, isWaiting, longer } from './message.ts';
import { copyIn, type Growing, type OurChat } from './ourChat.ts';
import { conversationOf, planTurn, savedIn, type TurnPlan } from './plan.ts';

/** How often the words of a growing answer are handed to the engine, in ms; it writes half as often as it likes. */
const DRAFT_INTERVAL = 100;

/** What a request is known by while its answer passes. */
export interface Call extends Pick<CallFacts, 'startedAt'> {
  firstMs?: number;
  steps: number;
  toolMs?: (number | null)[];
  finishReason?: string;
  model?: string;
}

/**
 * One turn, from the list that asks for it to the last word of its answer.
 *
 * The list is compared with what is saved, and what is new of it is saved, with a node that is reserved for the answer.
 * From then on the answer belongs to that node and its branch, and to nothing that can change while it grows: whichever
 * branch the person looks at meanwhile, these words go to this node. However it ends (finished, stopped, failed, cut
 * off), it ends once, and what was said until then is saved. A store that refuses is the engine's concern; it never
 * stops an answer.
 *
 * An answer in mid-conversation goes on as a version of itself. Nothing of it is written before its first new word, so
 * nothing is left of a request that is stopped or fails, or whose page is gone.
 */
export class Turn<M extends UIMessage> implements Growing {
  readonly engine: ContextEngine;
  /** The key of the answer's node: the one that goes on, or the one that is made for it. */
  readonly key: string;
  /** The id of the answer: see `name()`. */
  id: string;
  /** The branch that it grows on; of a version that is not made yet, the one of the answer that it is made from. */
  branchId: string;
  /** The id of the branch, should the turn need one of its own. */
  readonly forkId: string = createId();
  /** The answer that goes on, as it was saved; undefined for a new one. */
  answer: M | undefined;
  /** Resolves when the end of the answer is saved, or kept in memory where the disk refuses. Never rejects. */
  readonly settled: Promise<void>;
  isSettled = false;
  /** What is known of its request so far, once that is made. */
  call: Call | undefined;

  readonly #chat: OurChat<M>;
  readonly #asked: readonly M[];
  readonly #plan: TurnPlan<M>;
  /** Whether the answer that goes on left nothing to be said: it stays complete until a word is added. */
  #isWhole = false;
  /** Whether there is a node for what is said. */
  #isSaved = false;
  #saving: Promise<void> | undefined;
  #last: M | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #end: Promise<void> | undefined;
  #settle: () => void = () => {};

  /**
   * Opens the turn that a list asks for; it is saved when this resolves, or of a version, may be made. `messageId` is the one
   * that the request names, `answerId` was reserved for a new answer before.
   */
  static async open<M extends UIMessage>(
    chat: OurChat<M>,
    asked: readonly M[],
    named: { readonly messageId?: string | undefined; readonly answerId?: string | undefined },
  ): Promise<Turn<M>> {
    const saved = savedIn<M>(chat.engine, chat.branchId, chat.list.saved);
    const turn = new Turn(chat, asked, planTurn(asked, saved, named.messageId), named.answerId);
    await turn.#open();
    return turn;
  }

  private constructor(chat: OurChat<M>, asked: readonly M[], plan: TurnPlan<M>, answerId = createId()) {
    this.engine = chat.engine;
    this.branchId = chat.branchId as string;
    this.answer = plan.answer;
    this.key = (plan.goesOn === 'in place' && plan.answerKey) || `key:${createId()}`;
    this.id = plan.answer?.id ?? answerId;
    this.#chat = chat;
    this.#asked = asked;
    this.#plan = plan;
    this.settled = new Promise((resolve) => (this.#settle = resolve));
  }

  // ------------------------------------------------------------------ it is saved

  /** The key of the answer that this one is a version of, as long as it has no node of its own. */
  get versionOf(): string | undefined {
    return this.#isSaved || this.#plan.goesOn !== 'as a version' ? undefined : this.#plan.answerKey;
  }

  async #open(): Promise<void> {
    const { engine, versionOf } = this;
    if (versionOf === undefined) await this.#save();
    else {
      this.#refuseGrowing(versionOf);
      // Two requests for more would cost twice, and one of their answers be thrown away.
      const release = await engine.claim(`more ${versionOf}`);
      void this.settled.then(release);
    }
    const stops = [
      onLeaving(() => void this.#keep('streaming')),
      engine.subscribe((event) => {
        const isOwn = event.type === 'branch' && event.action === 'delete' && event.id === this.branchId;
        // No other branch holds the answer either.
        if (isOwn && engine.siblings(this.key).index === -1) void this.#chat.leave();
      }),
    ];
    void this.settled.then(() => stops.forEach((stop) => stop()));
  }

  /** Makes the node of the answer, when its first word arrives; undefined where there is one. */
  begin(): Promise<void> | undefined {
    return this.#isSaved ? undefined : (this.#saving ??= this.#save());
  }

  /** Saves the turn, and takes its chat along to the branch where that is. */
  async #save(): Promise<void> {
    const chat = this.#chat;
    const { host } = chat;
    // On the branch that is about to be made, so that it is there when that is shown.
    host.register(this.forkId, chat);
    try {
      if (this.#plan.goesOn === 'in place' && this.answer) await this.#goOn(this.answer);
      else await this.#ask();
      this.branchId = this.#landing();
      this.#isSaved = true;
      host.unregister(chat.branchId ?? '', chat);
      chat.branchId = this.branchId;
      this.#takeIn();
      chat.queue?.turned();
    } finally {
      host.unregister(this.forkId, chat);
      host.register(chat.branchId ?? '', chat);
    }
  }

  async #ask(): Promise<void> {
    const { engine, id, key, forkId } = this;
    const { fresh, keys, goesOn } = this.#plan;
    const isVersion = goesOn === 'as a version';
    // By the time of its first word, a call in it may have been answered.
    if (isVersion) this.answer = this.read() ?? this.answer;
    const options = {
      branch: this.branchId,
      forkId,
      id,
      key,
      parentId: keys.at(-1) ?? null,
      answer: this.answer && asJson(this.answer),
      // Another tab may show what an earlier page left, too, and ask it at this moment.
      isSole: isVersion || this.#chat.queue?.hasPlaced,
    };
    await engine.ask(fresh, options).catch((error: unknown) => {
      if (fresh.length === 0 || !isContextError(error, 'invalid-messages')) throw error;
      // A function in a question's metadata reaches no server either; the words do.
      return engine.ask(fresh.map(asJson), options);
    });
  }

  /**
   * Lets an answer grow again: in one chat, though others of the same engine may show it. It goes on from what it is by then:
   * another tab may have answered a call in it.
   */
  async #goOn(answer: M): Promise<void> {
    const { engine, key } = this;
    const [last] = callsIn({ ...answer, parts: answer.parts.slice(-1) });
    this.#isWhole = engine.status(key) === 'complete' && (!last || isWaiting(last));
    this.#refuseGrowing(key);
    await keepMessage(engine, key, (saved) => (this.answer = longer(saved as M, answer)), 'streaming');
  }

  #refuseGrowing(key: string): void {
    if (this.engine.status(key) !== 'streaming') return;
    const message = 'This answer is still growing. Wait for it, or stop it first.';
    throw new ContextError('busy', message, { details: { id: this.id } });
  }

  /** Where a turn went: to the branch made for it, to the one that it was meant for, or to the `main` of another tab. */
  #landing(): string {
    const { branches, branchId: active } = this.engine.state.getState();
    const ids = [this.forkId, this.branchId];
    return ids.find((id) => branches.some((branch) => branch.id === id)) ?? active;
  }

  /**
   * The list of the chat has the conversation as it is saved up to its answer, where the turn changed that, and the answer
   * that goes on. What was loaded of the conversation before its first message stays.
   */
  #takeIn(): void {
    const { answer, engine } = this;
    const { list } = this.#chat;
    const conversation = this.#plan.goesOn === 'in place' ? undefined : conversationOf(engine, this.#plan);
    const before = engine.node(this.#plan.keys[0] ?? '')?.parentId ?? null;
    const start = list.saved.findIndex(({ id }) => id === before) + 1;
    if (conversation) list.saved = [...list.saved.slice(0, start), ...conversation];
    if (answer) list.saved = put(list.saved, answer);
    list.followed = undefined;
    // What is saved may be more than what was asked: another tab added to it until then; or less, where no JSON holds it.
    list.now = list.now.map((message) => {
      if (answer?.id === message.id) return answer;
      const known = withId(conversation ?? [], message.id);
      const asked = withId(this.#asked, message.id);
      return known && asked && sameMessage(message, asked) ? known : message;
    });
    const copy = copyIn(this.#chat);
    const asked = withId(this.#asked, answer?.id);
    if (answer && copy?.id === answer.id && asked && !sameMessage(answer, asked))
      copy.parts = answer.parts.map((part) => ({ ...part }));
  }

  /** The answer's id, which is its server's where that gives one: a new answer takes one that its conversation has not. */
  name(given: string | undefined): string {
    if (given !== undefined && !this.answer && !this.#last && !withId(this.#asked, given)) this.id = given;
    return this.id;
  }

  // ------------------------------------------------------------------ it grows

  /** Whether the answer still grows; no longer as soon as its end is being saved. */
  get isOpen(): boolean {
    return this.#end === undefined;
  }

  /** The answer as far as it has come; undefined before its first part. */
  read(): M | undefined {
    const grown = this.#chat.list.now.findLast(({ id }) => id === this.id);
    // A server may begin an answer anew that broke off: it counts when it says more than was said.
    return grown && longer(this.answer, grown);
  }

  /** What was passed on has been read: its words are drafted soon, the first ones at once. */
  draft(): void {
    if (this.#end || this.#timer !== undefined) return;
    if (this.#last) this.#timer = setTimeout(() => void this.#keep('streaming'), DRAFT_INTERVAL);
    else void this.#keep('streaming');
  }

  /** Saves durably what was said so far; with `ahead`, what it is about to be. Resolves to whether it is. */
  async savePoint(ahead?: M): Promise<boolean> {
    return !this.#end && this.#keep(undefined, ahead);
  }

  /** What can't be kept now is kept at the end, or reported there. */
  async #keep(status: 'streaming' | undefined, message: M | undefined = this.#words()): Promise<boolean> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!message) return false;
    return keepMessage(this.engine, this.key, message, status).then(
      () => true,
      () => false,
    );
  }

  #words(): M | undefined {
    const message = this.#isSaved ? this.read() : undefined;
    if (message && hasWords(message)) this.#last = message;
    return this.#last;
  }

  // ------------------------------------------------------------------ it ends

  /** The answer is over. Only the first call counts; each resolves when the end is saved. */
  end(how: CallFacts['status'], usage?: Readonly<Record<string, unknown>>): Promise<void> {
    this.#end ??= this.#store(how, usage).finally(() => {
      this.isSettled = true;
      this.#settle();
    });
    return this.#end;
  }

  async #store(
    how: CallFacts['status'],
    usage: Readonly<Record<string, unknown>> | undefined,
  ): Promise<void> {
    clearTimeout(this.#timer);
    const { engine, key, id, answer, call } = this;
    const facts = call && { ...call, ms: Date.now() - call.startedAt, status: how };
    const status = how === 'complete' ? how : 'interrupted';
    // A version whose node could not be made has failed: the caller gets the error.
    await this.#saving?.catch(() => {});
    const read = this.#words();
    // An answer that was complete stays complete where Continue brought no word.
    const said = read ?? (this.#isWhole ? answer : undefined);
    const isMute = !this.#isSaved || sameJson(answer?.parts, said?.parts);
    const message = read ?? (status === 'complete' ? this.#wordless() : undefined) ?? said;
    this.#show(message, isMute);
    const words = message ?? { id, role: 'assistant', parts: [] };
    const now = isMute && this.#isWhole ? 'complete' : status;
    try {
      if (this.#isSaved) await keepMessage(engine, key, words, now, facts);
      if (usage) await engine.trackUsage(usage);
    } catch {
      // The engine has reported it, and the answer is on the page.
      if (isDeleted(engine)) this.#keepWhenBack(words, now);
    }
  }

  /** Should the deletion of the chat be undone, these words are saved, and not only the last draft. */
  #keepWhenBack(words: UIMessage, status: MessageStatus): void {
    const { engine, key } = this;
    const stop = engine.state.subscribe(({ status: now, error }) => {
      if (now !== 'ready' || error) return;
      stop();
      // No page streams it any more: it is begun again, and ended.
      const begun = keepMessage(engine, key, words, 'streaming');
      begun.then(() => keepMessage(engine, key, words, status)).catch(() => {});
    });
  }

  /** The list shows what is saved: a server may have taken back what is kept, or begun it anew. */
  #show(message: M | undefined, isMute: boolean): void {
    const { list } = this.#chat;
    this.#chat.isMute = isMute;
    if (message) list.saved = put(list.saved, message);
    if (message && withId(list.now, this.id)) list.now = put(list.now, message);
    if (!message && !this.answer && list.now.at(-1)?.id === this.id) list.now = list.now.slice(0, -1);
  }

  /**
   * An answer that came to its end without a word, and of which something is told: what it cost, who gave it. A message
   * without parts is one that was reserved, so it has the mark of a step, which shows nothing.
   */
  #wordless(): M | undefined {
    const message = this.#isSaved ? this.read() : undefined;
    if (message?.metadata === undefined) return undefined;
    return message.parts.length > 0 ? message : { ...message, parts: [{ type: 'step-start' }] };
  }
}

/** Whether the chat was deleted, here or in another tab, and nothing was said since. */
export function isDeleted(engine: ContextEngine): boolean {
  return engine.state.getState().error?.code === 'chat-deleted';
}

/** Hands new words to the engine, without what no JSON can hold: a function in a tool's output reaches no model either. */
export async function keepMessage(
  engine: ContextEngine,
  key: string,
  message: UIMessage | ((saved: UIMessage) => UIMessage),
  status: MessageStatus | undefined,
  call?: CallFacts,
): Promise<void> {
  try {
    await engine.updateMessage(key, message, status, call);
  } catch (error) {
    if (!isContextError(error, 'invalid-messages')) throw error;
    const plain = (saved: UIMessage): UIMessage =>
      asJson(typeof message === 'function' ? message(saved) : message);
    await engine.updateMessage(key, plain, status, call);
  }
}

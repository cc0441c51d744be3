import { convertFileListToFileUIParts, type ChatRequestOptions, type ChatStatus, type UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { checkMessage } from '../fragment/message.ts';
import { createId } from '../fragment/id.ts';
import { queuedKey } from '../store/keys.ts';
import { onReturning } from '../store/returning.ts';
import type { Message, Standing } from './contextChat.ts';
import { isToolPart, isWaiting, type ToolPart } from './toolPart.ts';
import { asJson } from './turn.ts';

/**
 * Questions that wait for their turn.
 *
 * People write on while an answer grows. Their next question can't go out yet: it would be asked of half an answer. It
 * can't stand in the tree either: what it hangs on is not said, and may come to nothing, be stopped, or be tried again.
 * Yet it was sent. The field is empty, so it has to be on the screen, and it has to be there after a crash.
 *
 * So what waits is a list of its own, which the chat shows behind its messages, and which is kept beside the chat in the
 * store: fields of one record, put there and taken out in transactions of their own, so that tabs don't take each
 * other's. It is taken out when the turn that asks it is saved. A question keeps its id on the way, so one that was
 * saved, and whose field could not be taken out any more, is known to be there.
 *
 * Who comes back to a page finds what waited when it was left, at the end of its branch, as a question without an
 * answer. It is not asked by itself: opening a page must not spend money, and two tabs may open at once. Nothing is
 * written for it either; it is put into the list, and saved, with the next thing that is said or asked. What waits in
 * another tab that is still there is that tab's: it holds a lock on each. A tab that dies tells nobody, so who comes back
 * to this one looks again.
 */
export class Queue<M extends UIMessage> {
  readonly #at: Standing<M>;
  #questions: readonly Question<M>[] = [];
  /** Those that are in the list of the chat by now, and not yet known to be saved. */
  readonly #asked: Set<Question<M>> = new Set();
  /** Those that wait no longer: the disk may still tell of them. */
  readonly #over: Set<string> = new Set();
  /** Resolves when what an earlier page left is known. Never rejects. */
  readonly recalled: Promise<void>;
  #shown: { readonly list: readonly M[]; readonly of: readonly Question<M>[]; readonly all: M[] } | undefined;
  /** What apps were told of: the messages of the list, by the objects that stand for them there. */
  readonly #told: WeakMap<M, M> = new WeakMap();
  /** The last messages of lists that were shown with what waits behind them: an answer is another object with each word. */
  readonly #ends: WeakSet<M> = new WeakSet();
  #waiting: { readonly of: readonly Question<M>[]; readonly all: readonly M[] } | undefined;
  #tail: Promise<unknown> | undefined;
  /** Lets a question that is held look again. */
  #wake: (() => void) | undefined;
  /** The answer that asks for something, and that somebody went past. */
  #passed: string | undefined;
  /** Looks again whether another tab is still at some of them. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(at: Standing<M>) {
    this.#at = at;
    queues.set(at.chat, this as unknown as Queue<UIMessage>);
    this.#followBranches();
    this.recalled = this.#recall();
    // What a chat listens to does not hold it, when it is let go.
    const self = new WeakRef(this);
    const stop = onReturning(() => {
      const queue = self.deref();
      if (queue) void queue.#recall();
      else stop();
    });
  }

  /** Resolves when what waits is kept; undefined when it is. Never rejects. */
  get writing(): Promise<unknown> | undefined {
    return this.#tail;
  }

  /** The questions whose turn will come, oldest first. The same array as long as they are the same. */
  get waiting(): readonly M[] {
    if (this.#waiting?.of !== this.#questions) {
      const own = this.#questions.filter(({ isLeft }) => !isLeft);
      this.#waiting = { of: this.#questions, all: own.flatMap(shownOf) };
    }
    return this.#waiting.all;
  }

  /** A list with what waits behind it. The same array for the same list, as long as nothing else waits. */
  behind(list: M[]): M[] {
    const of = this.#questions;
    if (of.length === 0) return list;
    if (this.#shown?.list !== list || this.#shown.of !== of) {
      this.#shown = { list, of, all: [...list, ...of.flatMap(shownOf)] };
      const end = list.at(-1);
      if (end) this.#ends.add(end);
    }
    return this.#shown.all;
  }

  /**
   * What of a list that an app gives does not wait. Of what does, that counts which the app left in it, as it is there; what it
   * left out is taken back, if the list is made of what is shown, and not of what knew of nothing that waits.
   */
  without(given: M[]): M[] {
    const list = given.map((message) => this.#told.get(message) ?? message);
    if (this.#questions.length === 0) return list;
    const waiting = new Map(this.#questions.flatMap(shownOf).map((message) => [message.id, message]));
    const others = given.filter(({ id }) => !waiting.has(id));
    const isComplete = this.#isOfNow(others);
    const found = new Map(list.map((message) => [message.id, message]));
    this.#questions = this.#questions.filter((question) => {
      const [message] = shownOf(question);
      const now = message && found.get(message.id);
      if (!message || (!now && !isComplete)) return true;
      if (!now) this.#forget(question);
      else if (now !== message && isSavable(now)) this.#say(question, now);
      return now !== undefined;
    });
    return list.filter(({ id }) => !waiting.has(id));
  }

  /**
   * Whether a list is made of what is shown, of which the last message may be a word behind. What `onFinish` was told of and
   * what a server gives back is from elsewhere, and so is a list in which some message is another one: what it is made of
   * may have known of nothing that waits.
   */
  #isOfNow(list: readonly M[]): boolean {
    const shown = new Set(this.#at.list.now);
    return list.every((message) => shown.has(message) || this.#ends.has(message));
  }

  /**
   * What an app is told of an answer that is finished, in objects of its own: so a list that is made of these is known,
   * whenever it is set.
   */
  telling<T extends { readonly message: M; readonly messages: M[] }>(event: T): T {
    const messages = event.messages.map((message) => {
      const told = { ...message };
      this.#told.set(told, message);
      return told;
    });
    const last = messages.at(-1);
    return { ...event, messages, message: last?.id === event.message.id ? last : event.message };
  }

  /** Puts a question at the end, with what its request is to be made with. */
  add(given: Message<M>, options?: ChatRequestOptions): Place<M> {
    const question: Question<M> = {
      message: undefined,
      options,
      isShown: false,
      isLeft: false,
      at: nextTime(this.#questions.at(-1)?.at),
    };
    this.#questions = [...this.#questions, question];
    const take = (): Asked<M> | null => {
      if (question.isLeft || !this.#questions.includes(question)) return null;
      this.#questions = this.#questions.filter((other) => other !== question);
      this.#asked.add(question);
      // One that can't be saved, or whose files can't be read, is refused by whoever looks at it next.
      return [(question.message as Message<M> | undefined) ?? given, question.options];
    };
    return {
      read: this.#read(question, given).then(nothing, nothing),
      held: () => this.#held(question),
      take,
      end: () => this.#release(question),
    };
  }

  /**
   * Shows and keeps a question; at once, where there is no file to be read first. Rejects for one that nobody could save:
   * what a view breaks on, and what every later visit would be refused for, gets no further.
   */
  async #read(question: Question<M>, given: Message<M>): Promise<void> {
    const {
      id = this.#at.chat.generateId(),
      role = 'user',
      text,
      files,
      parts,
      metadata,
      ...rest
    } = given as Words;
    const make = (all: UIMessage['parts']): void => {
      if (!this.#questions.includes(question)) return;
      const own = id === question.message?.id || !this.#isTaken(id) ? id : createId();
      const message = { ...rest, id: own, role, parts: all, metadata } as unknown as M;
      savableOf(message);
      this.#say(question, message);
      // A chat that says `ready` has kept what it shows.
      if (isAsking(this.#at.chat)) show();
      else void this.#tail?.then(show);
    };
    const show = (): void => {
      question.isShown = true;
      this.#show();
    };
    if (parts) return make(parts);
    const said = text === undefined ? [] : [{ type: 'text' as const, text }];
    return make([...(await convertFileListToFileUIParts(files)), ...said]);
  }

  /** Whether a message has this id. One that waits is kept under its own, and taken for saved where one is saved with it. */
  #isTaken(id: string): boolean {
    const { host, list } = this.#at;
    const own = [...this.#questions, ...this.#asked].map(({ message }) => message);
    return host.engine.node(id) !== undefined || [...own, ...list.now].some((one) => one?.id === id);
  }

  /**
   * What a question still waits for when nothing grows; undefined when it may be asked. Where the app goes on by itself,
   * an answer that asks the page for something is not over: asked now, the question would stand behind half of it, and
   * what the page gives would lead to nothing. The person typed it before there was anything to answer.
   */
  #held(question: Question<M>): Promise<void> | undefined {
    const { turn } = this.#at;
    if (question.isLeft || !this.#questions.includes(question)) return undefined;
    const asking = this.#asking();
    if (asking && asking.id !== this.#passed) {
      question.isHeld = true;
      return this.#change();
    }
    if (!question.isHeld || question.rested === turn) return undefined;
    // What goes on by itself has begun a task later.
    question.rested = turn;
    return new Promise((resolve) => setTimeout(resolve));
  }

  /** The answer at the end, when it is over and a call in it waits for the page, which makes it go on. */
  #asking(): M | undefined {
    const { host, list } = this.#at;
    const last = list.now.at(-1);
    const waits = last?.parts.some((part) => isToolPart(part) && isWaiting(part) && !isProviders(part));
    return waits && host.options.sendAutomaticallyWhen && host.engine.status(last?.id ?? '') === 'complete'
      ? last
      : undefined;
  }

  /** Something has changed in the chat. */
  async #change(): Promise<void> {
    const { chat } = this.#at;
    let unregister: (() => void)[] = [];
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      unregister = [chat['~registerMessagesCallback'](resolve), chat['~registerStatusCallback'](resolve)];
    });
    this.#wake = undefined;
    for (const leave of unregister) leave();
  }

  /** Something else is done than what the answer at the end asks for: what waits for that may be asked. Whether it did. */
  pass(): boolean {
    this.#passed = this.#asking()?.id;
    const wake = this.#wake;
    wake?.();
    return wake !== undefined;
  }

  /** Whether the turn of a message comes. */
  isWaiting(id: string | undefined): boolean {
    return this.#find(id)?.isLeft === false;
  }

  /** Other words for a question that waits: they are kept. One that was left here is asked. Undefined for any other one. */
  sayAnew(message: Message<M>, options?: ChatRequestOptions): Promise<void> | undefined {
    const question = this.#find(message.messageId);
    return question && this.#sayAnew(question, message, options);
  }

  async #sayAnew(
    question: Question<M>,
    { messageId = '', ...words }: Message<M>,
    options?: ChatRequestOptions,
  ): Promise<void> {
    const { chat, host } = this.#at;
    try {
      await this.#read(question, { ...words, id: messageId } as Message<M>);
    } catch (error) {
      host.options.onError?.(error as Error, chat);
      throw error;
    }
    question.options = options ?? question.options;
    await this.#tail;
    if (question.isLeft) await chat.regenerate({ ...options, messageId });
  }

  #find(id: string | undefined): Question<M> | undefined {
    return this.#questions.find(({ message }) => message && message.id === id);
  }

  /** Puts what an earlier page left into the list, since something is said behind it. */
  placeLeft(): void {
    this.#place(this.#left.filter((question) => !this.#isAstray(question)));
  }

  /** The same, since what was left is asked: as far as the question that is named, or the last one. */
  placeAsked(id: string | undefined): void {
    const left = this.#left;
    const end = id === undefined ? left.length : left.findIndex(({ message }) => message?.id === id) + 1;
    const asked = left[end - 1];
    if (!asked) return;
    const isAstray = this.#isAstray(asked);
    const parentId = asked.kept?.parentId;
    const { list } = this.#at;
    if (isAstray) list.now = list.now.slice(0, list.now.findIndex((one) => one.id === parentId) + 1);
    const goes = (question: Question<M>): boolean =>
      isAstray ? question.kept?.parentId === parentId : !this.#isAstray(question);
    this.#place(left.slice(0, end).filter(goes));
  }

  get #left(): readonly Question<M>[] {
    return this.#questions.filter(({ isLeft, message }) => isLeft && message);
  }

  /** Whether a question was left behind an earlier message of the list, on a branch that came to nothing. */
  #isAstray({ kept }: Question<M>): boolean {
    return this.#at.list.now.slice(0, -1).some(({ id }) => id === kept?.parentId);
  }

  #place(placed: readonly Question<M>[]): void {
    if (placed.length === 0) return;
    this.#questions = this.#questions.filter((question) => !placed.includes(question));
    for (const question of placed) this.#asked.add(question);
    const { list } = this.#at;
    list.now = [...list.now, ...placed.flatMap(({ message }) => message ?? [])];
  }

  /** A turn was refused, and its list is what it was: what an earlier page left waits behind that again. */
  refused(): void {
    const { engine } = this.#at.host;
    const back = [...this.#asked].filter(
      ({ isLeft, message }) => isLeft && message && !engine.node(message.id),
    );
    for (const question of back) this.#asked.delete(question);
    this.#show([...back, ...this.#questions]);
  }

  /** Whether some of what was left is put into the list: another tab shows it too, and may ask it at this moment. */
  get hasPlaced(): boolean {
    return [...this.#asked].some(({ isLeft }) => isLeft);
  }

  /** Nobody is here any more who would ask: what waits is left, as it is kept. */
  leave(): void {
    for (const question of this.#questions) {
      question.isLeft = true;
      this.#release(question);
    }
    this.#show();
    this.#wake?.();
  }

  /** A turn is saved, maybe on a branch of its own: what it asks waits no longer, and what waits goes along. */
  turned(): void {
    const { engine } = this.#at.host;
    for (const question of this.#asked) if (engine.node(question.message?.id ?? '')) this.#forget(question);
    // What was left at the end of another branch stays there.
    const stays = ({ isLeft, kept }: Question<M>): boolean => !isLeft || this.#isHere(kept?.branchId);
    this.#showOnly(stays);
    for (const question of this.#questions) if (!question.isLeft) this.#keep(question);
    // A disk that took the turn may take what it refused before.
    if (engine.state.getState().saveState.state === 'error') engine.retry().catch(() => {});
  }

  /** Others have written: what they saved waits no longer. */
  followed(): void {
    const { engine } = this.#at.host;
    const stays = ({ isLeft, message }: Question<M>): boolean =>
      !isLeft || !message || engine.node(message.id) === undefined;
    this.#showOnly(stays);
    this.#followBranches();
  }

  /** What waited on a branch that is deleted is left, and stands where one looks. */
  #followBranches(): void {
    const { host } = this.#at;
    const { branches } = host.engine.state.getState();
    const before = branchesOf.get(host.engine) ?? branches;
    branchesOf.set(host.engine, branches);
    if (before === branches) return;
    const ids = new Set(branches.map(({ id }) => id));
    const gone = new Set(before.flatMap(({ id }) => (ids.has(id) ? [] : id)));
    if (gone.size === 0) return;
    const [active, ...others] = host.all();
    for (const chat of others) if (gone.has(chat.branchId ?? '')) queues.get(chat)?.leave();
    if (active) queues.get(active)?.recall();
  }

  /** Shows no more than these. */
  #showOnly(stays: (question: Question<M>) => boolean): void {
    if (!this.#questions.every(stays)) this.#show(this.#questions.filter(stays));
  }

  /** Lets those who show the list look at it again: these wait now, or the same ones, which changed. */
  #show(questions: readonly Question<M>[] = [...this.#questions]): void {
    this.#questions = questions;
    this.#at.list.now = [...this.#at.list.now];
  }

  /** Looks again for what was left. */
  recall(): void {
    void this.#recall();
  }

  /** Looks for what an earlier page left at the end of this branch, or of one that is deleted. */
  async #recall(): Promise<void> {
    const { engine } = this.#at.host;
    const { store, chatId } = engine;
    try {
      const read = async (): Promise<object> => (await store.get<object | null>(queuedKey(chatId))) ?? {};
      const before = await read();
      if (Object.keys(before).length === 0) return;
      const held = await store.held(chatId);
      // Another tab forgets what it has asked, and lets go of it then.
      const entries = Object.entries(await read()).filter(([id]) => id in before);
      const own = [...this.#questions, ...this.#asked].map(({ message }) => message?.id);
      const known = new Set([...own, ...this.#over]);
      const left = entries.flatMap(([id, entry]): Question<M>[] => {
        if (!isEntry<M>(entry, id) || known.has(id) || atWork(engine).has(id)) return [];
        const question = { ...entry, isShown: true, isLeft: true, kept: entry };
        if (engine.node(id)) this.#forget(question);
        else if (held.has(id)) this.#lookAgain();
        else if (this.#isHere(entry.branchId)) return [question];
        return [];
      });
      if (left.length === 0) return;
      // What was left stands before what waits here.
      this.#show(
        [...left, ...this.#questions].toSorted((a, b) => Number(b.isLeft) - Number(a.isLeft) || a.at - b.at),
      );
    } catch {
      // A disk that can't be read says so with the conversation.
    }
  }

  /** Whether what was left on a branch is shown here: on that branch, and where one looks when it is deleted. */
  #isHere(branchId: string | undefined): boolean {
    const { branches, branchId: active } = this.#at.host.engine.state.getState();
    const own = this.#at.branchId;
    return branchId === own || (own === active && !branches.some(({ id }) => id === branchId));
  }

  #lookAgain(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#recall(), LOOK_INTERVAL);
    (this.#timer as { unref?: () => void }).unref?.();
  }

  // ------------------------------------------------------------------ what is kept

  #say(question: Question<M>, message: M): void {
    if (question.message === message) return;
    question.message = message;
    this.#keep(question);
  }

  #keep(question: Question<M>): void {
    question.isOver = false;
    this.#write(question);
  }

  #forget(question: Question<M>): void {
    this.#asked.delete(question);
    if (question.message) this.#over.add(question.message.id);
    question.isOver = true;
    this.#write(question);
  }

  /** One write after another, each of what is to be kept when it comes. */
  #write(question: Question<M>): void {
    const before = this.#tail ?? Promise.resolve();
    // A chat that is deleted keeps nothing, and what the disk refuses is the engine's to try again.
    const written = before.then(() => this.#store(question)).catch(() => {});
    this.#tail = written;
    void written.finally(() => {
      if (this.#tail === written) this.#tail = undefined;
    });
  }

  async #store(question: Question<M>): Promise<void> {
    const { engine } = this.#at.host;
    const { message, at, kept, isOver } = question;
    const { branchId } = this.#at;
    if (!message || !branchId) return;
    const id = message.id;
    const isWaiting = !isOver && !question.isLeft && this.#questions.includes(question);
    if (isWaiting && engine.node(id)) return this.#rename(question);
    const isKept = kept?.message === message && kept.branchId === branchId;
    if (isOver ? !kept && !question.release : isKept) return;
    if (!isOver && !question.isLeft && !question.release) {
      atWork(engine).add(id);
      question.release = await engine.store.hold(engine.chatId, id).catch(() => undefined);
    }
    const parentId = kept?.branchId === branchId ? kept.parentId : this.#earlierHead();
    const entry = isOver ? null : { branchId, parentId, message, at };
    await engine.keepFields(queuedKey(engine.chatId), {
      [id]: entry && { ...entry, message: savableOf(message) },
    });
    question.kept = entry ?? undefined;
    if (isOver || question.isLeft) this.#release(question);
  }

  /** Another one was sent with its id, in the same moment, and is saved with it: this one gets one of its own. */
  async #rename(question: Question<M>): Promise<void> {
    const { message, kept } = question;
    if (!message) return;
    const { engine } = this.#at.host;
    this.#release(question);
    question.kept = undefined;
    question.message = { ...message, id: createId() };
    this.#show();
    await this.#store(question);
    if (kept) await engine.keepFields(queuedKey(engine.chatId), { [message.id]: null });
  }

  /**
   * The message that was gone back to on the branch, where the list still ends: what is said there goes to another branch,
   * which has no id before there is something on it.
   */
  #earlierHead(): string | undefined {
    const { host, list, branchId: own } = this.#at;
    const { detached, branchId, headMessageId } = host.engine.state.getState();
    const isHere = detached && branchId === own && list.saved.at(-1)?.id === headMessageId;
    return isHere ? headMessageId : undefined;
  }

  /** Nobody is about to ask it any more. */
  #release(question: Question<M>): void {
    atWork(this.#at.host.engine).delete(question.message?.id ?? '');
    question.release?.();
    question.release = undefined;
  }
}

/** Gives a chat its queue, and resolves when it knows what an earlier page left. Never rejects. */
export async function openQueue<M extends UIMessage>(at: Standing<M>): Promise<void> {
  at.queue ??= new Queue(at);
  await at.queue.recalled;
}

/** How often a question that waits in another tab is looked at, in ms: a tab that dies sends no notice. */
const LOOK_INTERVAL = 2000;

interface Words extends Partial<UIMessage> {
  readonly text?: string;
  readonly files?: FileList;
}

/** The place of a question that waits. */
export interface Place<M extends UIMessage> {
  /** Resolves when its files are read, to nothing that is to stand before it. Never rejects. */
  readonly read: Promise<readonly never[]>;
  /** What it still waits for when nothing grows; undefined when it may be asked. */
  held(): Promise<void> | undefined;
  /** Takes it out, to be asked now; null where somebody took it back. */
  take(): Asked<M> | null;
  /** It was asked, or could not be: that it could not is told in the chat, and it is kept for the next page. */
  end(): void;
}

/** A question, and what its request is made with. */
type Asked<M extends UIMessage> = readonly [message: Message<M>, options: ChatRequestOptions | undefined];

/** What is kept of a question, under its id. */
interface Entry<M extends UIMessage> {
  /** The branch at whose end it waits. */
  readonly branchId: string;
  /** The earlier message of that branch that it is to hang on, where the branch it waits on is not made yet. */
  readonly parentId?: string | undefined;
  readonly message: M;
  /** When it was sent, in ms since epoch, and behind what was sent before it. */
  readonly at: number;
}

interface Question<M extends UIMessage> {
  /** Undefined while its files are read. */
  message: M | undefined;
  /** What its request is made with: it may hold a key, and is not kept. */
  options?: ChatRequestOptions | undefined;
  isShown: boolean;
  /** Whether a page that is gone left it: nobody is about to ask it. */
  isLeft: boolean;
  readonly at: number;
  /** What the store has of it. */
  kept?: Entry<M> | undefined;
  /** Whether it waited for what an answer asked of the page. */
  isHeld?: boolean;
  /** The turn after which it waited for what goes on by itself. */
  rested?: unknown;
  /** Whether it waits no longer. */
  isOver?: boolean;
  release?: (() => void) | undefined;
}

function nothing(): readonly never[] {
  return [];
}

function shownOf<M extends UIMessage>({ message, isShown }: Question<M>): readonly M[] {
  return message && isShown ? [message] : [];
}

/** Whether a provider runs a tool by itself. */
function isProviders(part: object): boolean {
  const { state, providerExecuted } = part as ToolPart & { readonly providerExecuted?: boolean };
  return providerExecuted === true && state !== 'approval-requested';
}

/** Whether an answer is asked for, or grows. */
export function isAsking({ status }: { readonly status: ChatStatus }): boolean {
  return status === 'submitted' || status === 'streaming';
}

/** The queues of chats. */
const queues: WeakMap<object, Queue<UIMessage>> = new WeakMap();

/** The branches of engines, as they were last seen. */
const branchesOf: WeakMap<ContextEngine, readonly { readonly id: string }[]> = new WeakMap();

/** What this page is at: the ids of questions that wait in one of its chats. */
function atWork(engine: ContextEngine): Set<string> {
  const ids = working.get(engine) ?? new Set();
  working.set(engine, ids);
  return ids;
}

const working: WeakMap<ContextEngine, Set<string>> = new WeakMap();

/**
 * A message as it is saved: without what no JSON holds, a function in its metadata.
 *
 * @throws invalid-messages for what nobody could save, not even so
 */
function savableOf<M extends UIMessage>(message: M): M {
  try {
    checkMessage(message);
    return message;
  } catch {
    const plain = asJson(message);
    checkMessage(plain);
    return plain;
  }
}

function isSavable(message: UIMessage): boolean {
  try {
    savableOf(message);
    return true;
  } catch {
    return false;
  }
}

function nextTime(last = 0): number {
  return Math.max(Date.now(), last + 1);
}

function isEntry<M extends UIMessage>(entry: unknown, id: string): entry is Entry<M> {
  const { branchId, at, message } = (entry ?? {}) as Partial<Entry<M>>;
  return typeof branchId === 'string' && typeof at === 'number' && message?.id === id && isSavable(message);
}

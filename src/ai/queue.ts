import type { ChatRequestOptions, UIMessage } from 'ai';
import { keepIfSame, sameItems } from '../graph/same.ts';
import { createId } from '../fragment/id.ts';
import { checkMessage } from '../fragment/message.ts';
import type { Job } from './jobs.ts';
import { keyOf, withId } from './list.ts';
import { asJson, waitsForPage } from './message.ts';
import type { BranchChat } from './branchChat.ts';
import { copyIn, isAsking, QUEUED, type Said } from './host.ts';

/**
 * The queued questions of a chat.
 *
 * A question that is sent while an answer grows can't go out yet, and can't be in the tree: its parent is not complete, and may
 * fail or be tried again. Yet it has to be on the screen, and to survive a crash. So the chat shows it behind its messages, and
 * the store keeps it beside the chat, as a field of one record, until the turn that asks it is saved. It keeps its id, which
 * tells that it was asked if the field could not be removed.
 *
 * The next page finds such questions at the end of their branch. They are not asked by themselves (opening a page must not
 * spend money), and are saved with the next thing that is sent. A question that waits in another open tab belongs to that tab,
 * which holds a lock on it. A tab that dies tells nobody, so this page checks again when the person returns to it.
 */
export class Queue {
  /** Resolves when the queue is saved; undefined when it is. Never rejects. */
  writing: Promise<unknown> | undefined;
  readonly #chat: BranchChat;
  /** The questions queued here or left by an earlier page, oldest first. */
  #questions: readonly Question[] = [];
  /** The last values of `waiting` and `behind()`, returned again while they are equal. */
  #waiting: readonly UIMessage[] = [];
  #behind: readonly UIMessage[] = [];
  /** The id of the answer whose waiting tool call the person passed over by sending something else. */
  #passed: string | undefined;
  /** Checks again whether another tab still holds some of them. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(chat: BranchChat) {
    this.#chat = chat;
  }

  // ------------------------------------------------------------------ what is shown

  get waiting(): readonly UIMessage[] {
    const own = this.#shown().filter(({ isLeft }) => !isLeft);
    return (this.#waiting = keepIfSame(this.#waiting, own.map(messageOf)));
  }

  /** A list with the queued questions behind it. */
  behind(list: UIMessage[]): UIMessage[] {
    const shown = this.#shown().map(messageOf);
    if (shown.length === 0) return list;
    return (this.#behind = keepIfSame(this.#behind, [...list, ...shown])) as UIMessage[];
  }

  /** The questions that wait: one that is being asked is in the list. */
  #shown(): readonly Question[] {
    const { now } = this.#chat.list;
    return this.#questions.filter(({ message }) => !withId(now, message.id));
  }

  #set(questions: readonly Question[]): void {
    this.#questions = questions;
    this.#chat.list.touch();
    this.#chat.jobs.look();
  }

  /**
   * The messages of a list set by an app that are not queued. A queued question takes the text that the list has for it, and is
   * removed if it is missing, unless the list is one of an earlier moment, as the AI SDK passes to `onFinish`.
   */
  without(given: readonly UIMessage[]): readonly UIMessage[] {
    const [chat, shown] = [this.#chat, this.#shown()];
    const others = given.filter(({ id }) => !shown.some(({ message }) => message.id === id));
    const isTold = !isAsking(chat) && copyIn(chat) !== undefined;
    const isOfNow = !isTold && (given.length === 0 || sameIds(others, chat.list.now));
    for (const question of shown) {
      const now = withId(given, question.message.id);
      if (now && now !== question.message && isSavable(now))
        this.#write(Object.assign(question, { message: now }));
      if (!now && isOfNow) this.#write(question, true);
    }
    chat.jobs.look();
    return others;
  }

  // ------------------------------------------------------------------ whose turn it is

  /** Queues a question, with the options of its request. Resolves to the job that asks it; one that can't be saved is not shown. */
  async add(given: Promise<Said>, options?: ChatRequestOptions): Promise<Job> {
    const chat = this.#chat;
    const message = await given.then((said) => this.#named(said)).catch(() => undefined);
    // A question that can't be saved, or whose files can't be read, is refused in its turn.
    if (!message) return { rank: 'asked', run: async () => chat.say(await given, options) };
    const at = Math.max(Date.now(), (this.#questions.at(-1)?.at ?? 0) + 1);
    const question: Question = { message, at, options, isLeft: false };
    this.#write(question);
    // A chat that says `ready` has saved what it shows.
    if (!isAsking(chat)) await this.writing;
    this.#set([...this.#questions, question]);
    return {
      rank: 'asked',
      run: async () => {
        if (question.isLeft || !this.#questions.includes(question)) return;
        await chat.say(question.message, question.options);
        // A question that could not be asked is kept for the next page; the chat reports the failure.
        leave(question);
      },
    };
  }

  /** A message as it is queued: with an id of its own (`own`: the one that it has in the queue). Throws `invalid-messages`. */
  #named({ id, role = 'user', ...rest }: Said, own?: string): UIMessage {
    const chat = this.#chat;
    const given = id ?? own ?? chat.generateId();
    const known = [...chat.list.now, ...this.#questions.map(messageOf)];
    const isTaken = given !== own && (chat.engine.node(given) ?? withId(known, given)) !== undefined;
    const queued = { ...rest, id: isTaken ? createId() : given, role };
    savableOf(queued);
    return queued;
  }

  /** Whether queued questions wait though no answer grows: with `sendAutomaticallyWhen`, one that called a tool is not over. */
  get isHeld(): boolean {
    const asking = this.#asking();
    return asking !== undefined && asking !== this.#passed;
  }

  /** The id of the last answer, if it is complete and a tool call in it waits for the page. */
  #asking(): string | undefined {
    const { engine, list, branchId, host } = this.#chat;
    const last = list.now.at(-1);
    if (!last || !host.options.sendAutomaticallyWhen || !last.parts.some(waitsForPage)) return undefined;
    return engine.status(keyOf(engine, last.id, branchId) ?? '') === 'complete' ? last.id : undefined;
  }

  /** Lets queued questions be asked although a tool call waits. Returns whether any waited for it. */
  pass(): boolean {
    const isHeld = this.isHeld && !isAsking(this.#chat) && this.waiting.length > 0;
    this.#passed = this.#asking();
    this.#chat.jobs.look();
    return isHeld;
  }

  /** Gives a queued question a new text. Resolves to whether it is to be asked now; to undefined for one that is not queued. */
  async sayAnew({ messageId, ...said }: Said, options?: ChatRequestOptions): Promise<boolean | undefined> {
    const question = this.#shown().find(({ message }) => message.id === messageId);
    if (!question) return undefined;
    const message = this.#named(said, messageId);
    this.#write(Object.assign(question, { message, options: options ?? question.options }));
    this.#set(this.#questions);
    await this.writing;
    return question.isLeft;
  }

  // ------------------------------------------------------------------ what an earlier page left

  /** Puts questions that an earlier page left into the list, as far as question `id`: something is sent behind them. */
  placeLeft(id?: string): void {
    const { list } = this.#chat;
    const left = this.#shown().flatMap(({ isLeft, message }) => (isLeft ? message : []));
    const end = id === undefined ? left.length : left.findIndex((message) => message.id === id) + 1;
    list.now = [...list.now, ...left.slice(0, end)];
  }

  get hasPlaced(): boolean {
    const { now } = this.#chat.list;
    return this.#questions.some(({ isLeft, message }) => isLeft && withId(now, message.id));
  }

  leave(): void {
    this.#questions.forEach(leave);
    this.#set(this.#questions);
  }

  /**
   * Called when the chat has changed, here or in another tab. A question that was asked leaves the queue, as soon as the list has
   * it; one that was left at the end of another branch stays there. The others are on the chat's branch.
   */
  followed(all: readonly Question[] = this.#questions): void {
    const { engine, branchId, jobs, list } = this.#chat;
    const isAsked = ({ isLeft, message }: Question): boolean => {
      const node = engine.node(message.id);
      const isElsewhere = isLeft && node && engine.branchHolding(node.key) !== branchId;
      return isElsewhere || (node && withId(list.saved, node.id)) !== undefined;
    };
    const asked = all.filter(isAsked);
    const open = all.filter((one) => !asked.includes(one) && (!one.isLeft || this.#isHere(one)));
    if (sameItems(open, this.#questions)) jobs.look();
    else this.#set(open);
    for (const question of asked) this.#write(question, true);
    for (const question of open)
      if (!question.isLeft && question.branchId !== branchId) this.#write(question);
  }

  // ------------------------------------------------------------------ what is kept

  /** Looks for questions that an earlier page left at the end of this branch, or of a deleted one. Never rejects. */
  async recall(): Promise<void> {
    const { engine } = this.#chat;
    try {
      await this.writing;
      const before = await engine.readFields(QUEUED);
      if (Object.keys(before).length === 0) return;
      const held = await engine.store.held(engine.chatId);
      // Read the fields again: another tab removes the field of a question it has asked before it releases the lock.
      const now = Object.entries(await engine.readFields(QUEUED));
      const known = this.#questions.map(messageOf);
      const others = now.filter(([id]) => id in before && !withId(known, id));
      const left = others.flatMap(([id, entry]): Question[] =>
        isEntry(entry, id) && !held.has(id) ? [{ ...entry, isLeft: true }] : [],
      );
      clearTimeout(this.#timer);
      const isAway = others.some(([id]) => held.has(id));
      this.#timer = isAway ? setTimeout(() => void this.recall(), LOOK_INTERVAL) : undefined;
      (this.#timer as { unref?: () => void } | undefined)?.unref?.();
      this.followed([...this.#questions, ...left].toSorted((a, b) => a.at - b.at));
    } catch {
      // The read of the conversation reports a disk that can't be read.
    }
  }

  /**
   * Whether a left question is shown in this chat: on the branch that holds the message behind which it waits (or the one before,
   * if that one has no words), or on the active branch when its own was deleted.
   */
  #isHere({ place }: Question): boolean {
    const { engine, branchId } = this.#chat;
    const node = engine.node(place ?? '');
    const holder = node && engine.branchHolding(node.key);
    const before = node?.parts === 0 ? engine.branchHolding(node.parentKey ?? '') : undefined;
    return (holder ?? before ?? engine.state.getState().branchId) === branchId;
  }

  /** Keeps a question, or removes it from the store when it is over. A deleted chat keeps nothing; the engine retries the rest. */
  #write(question: Question, isOver = false): void {
    if (isOver) this.#questions = this.#questions.filter((one) => one !== question);
    question.branchId = this.#chat.branchId;
    const store = (): Promise<void> => this.#store(question, isOver).catch(() => {});
    const written = Promise.resolve(this.writing).then(store);
    this.writing = written;
    void written.finally(() => {
      if (this.writing === written) this.writing = undefined;
    });
  }

  async #store(question: Question, isOver: boolean): Promise<void> {
    const { engine, branchId } = this.#chat;
    if (!branchId) return;
    const { message, at } = question;
    if (!isOver && !question.isLeft)
      question.release ??= await engine.store.hold(engine.chatId, message.id).catch(() => undefined);
    question.place = engine.lastOf(branchId) ?? null;
    const entry = isOver ? null : { place: question.place, message: savableOf(message), at };
    await engine.keepFields(QUEUED, { [message.id]: entry });
    if (isOver || question.isLeft) leave(question);
  }
}

/** How often to check a question that another tab holds, in ms: a tab that dies sends no event. */
const LOOK_INTERVAL = 2000;

/** What the store keeps of a question, under its id. */
interface Entry {
  /** The key of the last message of the branch when the question was queued; null for an empty branch. */
  readonly place: string | null;
  readonly message: UIMessage;
  /** When it was sent, in ms since epoch, raised where needed so that it is after those before it. */
  readonly at: number;
}

/** A queued question, as this page knows it. */
interface Question extends Pick<Entry, 'at'> {
  message: UIMessage;
  /** As in the entry; undefined until the question is kept. */
  place?: string | null;
  /** The branch of the chat when the question was last kept. */
  branchId?: string | undefined;
  /** The options of the request. They may hold a key, and are not saved. */
  options?: ChatRequestOptions | undefined;
  /** Whether an earlier page left the question, or it could not be asked: it is asked only when a person says so. */
  isLeft: boolean;
  /** Releases the lock that tells other tabs that this one will ask the question. */
  release?: (() => void) | undefined;
}

/** From now on a question is asked only when a person says so, here or in another tab. */
function leave(question: Question): void {
  question.isLeft = true;
  question.release?.();
  question.release = undefined;
}

/** Whether a stored value is a queued question: other versions of this code, or damage, may have put something else there. */
function isEntry(entry: unknown, id: string): entry is Entry {
  const { place, at, message } = (entry ?? {}) as Partial<Entry>;
  const isPlaced = (place === null || typeof place === 'string') && typeof at === 'number';
  return isPlaced && message?.id === id && isSavable(message);
}

/** A message as it is saved: without what JSON can't hold. Throws `invalid-messages` where that is no message. */
function savableOf(message: UIMessage): UIMessage {
  const plain = asJson(message);
  checkMessage(plain);
  return plain;
}

function isSavable(message: UIMessage): boolean {
  try {
    return savableOf(message) !== undefined;
  } catch {
    return false;
  }
}

function messageOf({ message }: Question): UIMessage {
  return message;
}

function sameIds(a: readonly UIMessage[], b: readonly UIMessage[]): boolean {
  return a.length === b.length && a.every(({ id }, i) => id === b[i]?.id);
}

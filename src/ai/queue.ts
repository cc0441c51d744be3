import { convertFileListToFileUIParts, type ChatRequestOptions, type UIMessage } from 'ai';
import { sameItems, sameJson } from '../engine/same.ts';
import { createId } from '../fragment/id.ts';
import { checkMessage } from '../fragment/message.ts';
import type { Job } from './line.ts';
import { keyOf, withId } from './list.ts';
import { asJson, waitsForPage } from './message.ts';
import { copyIn, isAsking, QUEUED, type Message, type OurChat, type Waiting, type Words } from './ourChat.ts';

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
export class Queue implements Waiting {
  /** Resolves when the queue is saved; undefined when it is. Never rejects. */
  writing: Promise<unknown> | undefined;
  readonly #chat: OurChat;
  /** The questions queued here or left by an earlier page, in order. */
  #questions: readonly Question[] = [];
  /** The ids of those that are over: the disk may still have their fields. */
  readonly #over: Set<string | undefined> = new Set();
  /** The last value of `waiting`, returned again while it is equal. */
  #waiting: readonly UIMessage[] = [];
  #behind: { readonly list: readonly UIMessage[]; readonly all: UIMessage[] } | undefined;
  /** The id of the answer whose waiting tool call the person passed over by sending something else. */
  #passed: string | undefined;
  /** Checks again whether another tab still holds some of them. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(chat: OurChat) {
    this.#chat = chat;
  }

  // ------------------------------------------------------------------ what is shown

  get waiting(): readonly UIMessage[] {
    const now = this.#shown().flatMap(({ isLeft, message }) => (isLeft ? [] : message));
    return (this.#waiting = sameItems(this.#waiting, now) ? this.#waiting : now);
  }

  /** A list with the queued questions behind it; the same array for the same list and queue. */
  behind(list: UIMessage[]): UIMessage[] {
    const all = [...list, ...this.#shown().map(({ message }) => message)];
    if (all.length === list.length) return list;
    const known = this.#behind?.list === list && sameItems(this.#behind.all, all) ? this.#behind : undefined;
    return (this.#behind = known ?? { list, all }).all;
  }

  /** The questions that wait: one that is being asked is in the list. */
  #shown(): readonly Shown[] {
    const { now } = this.#chat.list;
    return this.#questions.filter(
      (one): one is Shown => one.isShown && !!one.message && !withId(now, one.message.id),
    );
  }

  #find(id: string | undefined): Shown | undefined {
    return this.#shown().find(({ message }) => message.id === id);
  }

  isWaiting(id: string | undefined): boolean {
    return this.#find(id)?.isLeft === false;
  }

  /** Notifies subscribers of the list, and lets the line check which job may begin. */
  #changed(): void {
    this.#chat.list.touch();
    this.#chat.line.look();
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
      if (now && isSavable(now)) this.#say(question, now);
      if (!now && isOfNow) this.#forget(question);
    }
    chat.line.look();
    return others;
  }

  // ------------------------------------------------------------------ whose turn it is

  /** Queues a question, with the options of its request. Returns the job that asks it. */
  add(given: Message, options?: ChatRequestOptions): Job {
    const at = Math.max(Date.now(), (this.#questions.at(-1)?.at ?? 0) + 1);
    const question: Question = { message: undefined, options, isShown: false, isLeft: false, at };
    this.#questions = [...this.#questions, question];
    const isNext = (): boolean => !question.isLeft && this.#questions.includes(question);
    // A question that can't be saved, or whose files can't be read, is refused in its turn.
    const read = this.#read(question, given).catch(() => {});
    return {
      rank: 'asked',
      prepare: () => Promise.allSettled([this.#chat.ready(), read]),
      isHeld: () => isNext() && this.#isHeld(),
      run: async () => {
        if (!isNext()) return;
        await this.#chat.say(question.message ?? given, question.options);
        // A question that could not be asked is kept for the next page; the chat reports the failure.
        question.isLeft = true;
        release(question);
      },
    };
  }

  /** Reads a question's files, shows it and saves it. Rejects for one that can't be saved, which is never shown. */
  async #read(question: Question, given: Message): Promise<void> {
    const chat = this.#chat;
    const { id = chat.generateId(), role = 'user', text, files, parts, metadata, ...rest } = given as Words;
    const said = text === undefined ? [] : [{ type: 'text' as const, text }];
    const all = parts ?? [...(await convertFileListToFileUIParts(files as FileList | undefined)), ...said];
    if (!this.#questions.includes(question)) return;
    const own = id === question.message?.id || !this.#isTaken(id) ? id : createId();
    const message = { ...rest, id: own, role, parts: all, metadata } as unknown as UIMessage;
    savableOf(message);
    this.#say(question, message);
    // A chat that says `ready` has saved what it shows.
    if (!isAsking(chat)) await this.writing;
    question.isShown = true;
    this.#changed();
  }

  /** Whether a saved or queued message has this id. */
  #isTaken(id: string): boolean {
    const { engine, list } = this.#chat;
    const isQueued = this.#questions.some(({ message }) => message?.id === id);
    return isQueued || (engine.node(id) ?? withId(list.now, id)) !== undefined;
  }

  /** Whether queued questions wait though no answer grows: with `sendAutomaticallyWhen`, one that called a tool is not over. */
  #isHeld(): boolean {
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
    const isHeld = this.#isHeld() && !isAsking(this.#chat) && this.waiting.length > 0;
    this.#passed = this.#asking();
    this.#chat.line.look();
    return isHeld;
  }

  /** Gives a queued question a new text. Resolves to whether it is to be asked now; undefined for one that is not queued. */
  sayAnew(message: Message, options?: ChatRequestOptions): Promise<boolean> | undefined {
    const question = this.#find(message.messageId);
    if (!question) return undefined;
    const { messageId, ...words } = message;
    const said = this.#read(question, { ...words, id: messageId } as Message);
    said.catch((error: Error) => this.#chat.tell(error));
    return said.then(async () => {
      question.options = options ?? question.options;
      await this.writing;
      return question.isLeft;
    });
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
    return this.#questions.some(({ isLeft, message }) => isLeft && withId(now, message?.id));
  }

  leave(): void {
    for (const question of this.#questions) {
      question.isLeft = true;
      release(question);
    }
    this.#changed();
  }

  /** Drops the questions that were left in a chat that is deleted. */
  forgetLeft(): void {
    this.#questions = this.#questions.filter(({ isLeft }) => !isLeft);
  }

  turned(): void {
    for (const question of this.#questions) if (this.#isSaved(question)) this.#forget(question);
    // Questions left at the end of another branch stay there.
    this.#questions = this.#questions.filter(({ isLeft, kept }) => !isLeft || this.#isHere(kept));
    for (const question of this.#questions) if (!question.isLeft) this.#write(question);
  }

  /** Called after others have written: drops the left questions that others have asked, in this list or on another branch. */
  followed(): void {
    const { engine, branchId, list, line } = this.#chat;
    const isThere = ({ isLeft, message }: Question): boolean => {
      const node = isLeft ? engine.node(message?.id ?? '') : undefined;
      const isElsewhere = node && (engine.branchHolding(node.key) ?? branchId) !== branchId;
      return isElsewhere || (node !== undefined && withId(list.saved, node.id) !== undefined);
    };
    line.look();
    if (!this.#questions.some(isThere)) return;
    this.#questions = this.#questions.filter((question) => !isThere(question));
    this.#changed();
  }

  #isSaved({ message }: Question): boolean {
    return this.#chat.engine.node(message?.id ?? '') !== undefined;
  }

  // ------------------------------------------------------------------ what is kept

  /** Looks for questions that an earlier page left at the end of this branch, or of a deleted one. Never rejects. */
  async recall(): Promise<void> {
    const { engine, host } = this.#chat;
    try {
      const before = await engine.fieldsOf(QUEUED);
      if (Object.keys(before).length === 0) return;
      const held = await engine.store.held(engine.chatId);
      // Read the fields again: another tab removes the field of a question it has asked before it releases the lock.
      const entries = Object.entries(await engine.fieldsOf(QUEUED)).filter(([id]) => id in before);
      let isAway = false;
      const isKnown = (id: string): boolean =>
        this.#over.has(id) ||
        this.#questions.some(({ message }) => message?.id === id) ||
        host.all().some(({ queue }) => queue?.isWaiting(id));
      const left = entries.flatMap(([id, entry]): Question[] => {
        if (!isEntry(entry, id) || isKnown(id)) return [];
        const question: Question = { ...entry, isShown: true, isLeft: true, kept: entry };
        if (engine.node(id)) this.#forget(question);
        else if (held.has(id)) isAway = true;
        else if (this.#isHere(entry)) return [question];
        return [];
      });
      clearTimeout(this.#timer);
      this.#timer = isAway ? setTimeout(() => void this.recall(), LOOK_INTERVAL) : undefined;
      (this.#timer as { unref?: () => void } | undefined)?.unref?.();
      if (left.length === 0) return;
      // Left questions stand before those queued here.
      const all = [...left, ...this.#questions];
      this.#questions = all.toSorted((a, b) => Number(b.isLeft) - Number(a.isLeft) || a.at - b.at);
      this.#changed();
    } catch {
      // The read of the conversation reports a disk that can't be read.
    }
  }

  /** Whether a left question is shown in this chat: on its branch, or on the active branch when its own was deleted. */
  #isHere(kept: Entry | undefined): boolean {
    const { engine, branchId } = this.#chat;
    return (this.#branchOf(kept) ?? engine.state.getState().branchId) === branchId;
  }

  /** The branch that holds the message behind which a question waits; of a wordless answer, that of the one before. */
  #branchOf(kept: Entry | undefined): string | undefined {
    const { engine } = this.#chat;
    const node = engine.node(kept?.place ?? '');
    const holder = node && engine.branchHolding(node.key);
    return holder ?? (node?.parts === 0 ? engine.branchHolding(node.parentKey ?? '') : undefined);
  }

  #say(question: Question, message: UIMessage): void {
    if (question.message === message) return;
    question.message = message;
    this.#write(question);
  }

  #forget(question: Question): void {
    this.#questions = this.#questions.filter((one) => one !== question);
    this.#over.add(question.message?.id);
    this.#write(question, true);
  }

  #write(question: Question, isOver = false): void {
    // A deleted chat keeps nothing, and the engine retries what the disk refuses.
    const written = Promise.resolve(this.writing)
      .then(() => this.#store(question, isOver))
      .catch(() => {});
    this.writing = written;
    void written.finally(() => {
      if (this.writing === written) this.writing = undefined;
    });
  }

  async #store(question: Question, isOver: boolean): Promise<void> {
    const { engine, branchId } = this.#chat;
    const { message, at, kept, isLeft } = question;
    const isGone = isOver ? !kept && !question.release : !this.#questions.includes(question);
    if (!message || !branchId || isGone || (!isOver && this.#isSaved(question))) return;
    const { id } = message;
    if (!isOver && kept && sameJson(kept.message, message) && this.#branchOf(kept) === branchId) return;
    if (!isOver && !isLeft)
      question.release ??= await engine.store.hold(engine.chatId, id).catch(() => undefined);
    const entry = isOver ? null : { place: engine.lastOf(branchId) ?? null, message, at };
    await engine.keepFields(QUEUED, { [id]: entry && { ...entry, message: savableOf(message) } });
    question.kept = entry ?? undefined;
    if (isOver || question.isLeft) release(question);
  }
}

/** How often to check a question that another tab holds, in ms: a tab that dies sends no event. */
const LOOK_INTERVAL = 2000;

/** A queued question, as this page knows it. */
interface Question {
  /** Undefined while the question's files are read. */
  message: UIMessage | undefined;
  /** The options of the request. They may hold a key, and are not saved. */
  options?: ChatRequestOptions | undefined;
  /** Whether its files are read, and it is saved where it has to be. */
  isShown: boolean;
  /** Whether an earlier page left the question, or it could not be asked: it is asked only when a person says so. */
  isLeft: boolean;
  readonly at: number;
  /** What the store has of the question. */
  kept?: Entry | undefined;
  /** Releases the lock that tells other tabs that this one will ask the question. */
  release?: (() => void) | undefined;
}

type Shown = Question & { message: UIMessage };

/** What the store keeps of a question, under its id. */
interface Entry {
  /** The key of the last message of the branch when the question was queued; null for an empty branch. */
  readonly place: string | null;
  readonly message: UIMessage;
  /** When it was sent, in ms since epoch, raised where needed so that it is after those before it. */
  readonly at: number;
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

function release(question: { release?: (() => void) | undefined }): void {
  question.release?.();
  question.release = undefined;
}

function sameIds(a: readonly UIMessage[], b: readonly UIMessage[]): boolean {
  return a.length === b.length && a.every(({ id }, i) => id === b[i]?.id);
}

import { convertFileListToFileUIParts, type ChatRequestOptions, type UIMessage } from 'ai';
import { sameItems } from '../engine/same.ts';
import { createId } from '../fragment/id.ts';
import { checkMessage } from '../fragment/message.ts';
import { keyOf, withId } from './list.ts';
import { asJson, waitsForPage } from './message.ts';
import { copyIn, isAsking, QUEUED, type Message, type OurChat, type Waiting, type Words } from './ourChat.ts';

/**
 * Questions that wait for their turn.
 *
 * People write on while an answer grows. Their next question can't go out yet: it would be asked of half an answer. It
 * can't stand in the tree either: what it hangs on is not said, and may come to nothing, be stopped, or be tried again.
 * Yet it was sent. The field is empty, so it has to be on the screen, and it has to be there after a crash.
 *
 * So what waits is a list of its own, and all else is derived from it: the chat shows behind its messages what of it is
 * not among them. It is kept beside the chat in the store, each question as a field of one record, so that tabs don't take
 * each other's, and taken out when the turn that asks it is saved. A question keeps its id on the way, so one that was
 * saved, and whose field could not be taken out any more, is known to be there.
 *
 * Who comes back to a page finds what waited when it was left, at the end of its branch, as a question without an
 * answer. It is not asked by itself: opening a page must not spend money, and two tabs may open at once. Nothing is
 * written for it either; it is put into the list, and saved, with the next thing that is said or asked. What waits in
 * another tab that is still there is that tab's: it holds a lock on each. A tab that dies tells nobody, so a person's return
 * to this one makes it look again.
 */
export class Queue<M extends UIMessage> implements Waiting {
  /** Resolves when what waits is kept; undefined when it is. Never rejects. */
  writing: Promise<unknown> | undefined;
  readonly #chat: OurChat<M>;
  /** All that waited here, or was left, in their order; those that are over, too: the disk may still tell of them. */
  #questions: readonly Question<M>[] = [];
  /** What was derived of it last, so that equal lists are one. */
  #waiting: readonly M[] = [];
  #behind: { readonly list: readonly M[]; readonly all: M[] } | undefined;
  /** The id of the answer whose open call a person passed over by asking something else. */
  #passed: string | undefined;
  /** Looks again whether another tab is still at some of them. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(chat: OurChat<M>) {
    this.#chat = chat;
  }

  // ------------------------------------------------------------------ what is shown

  /** The questions whose turn will come, oldest first. The same array as long as they are the same. */
  get waiting(): readonly M[] {
    const now = this.#shown().flatMap(({ isLeft, message }) => (isLeft ? [] : message));
    return (this.#waiting = sameItems(this.#waiting, now) ? this.#waiting : now);
  }

  /** A list with what waits behind it. The same array for the same list, as long as nothing else waits. */
  behind(list: M[]): M[] {
    const all = [...list, ...this.#shown().map(({ message }) => message)];
    if (all.length === list.length) return list;
    const known = this.#behind?.list === list && sameItems(this.#behind.all, all) ? this.#behind : undefined;
    return (this.#behind = known ?? { list, all }).all;
  }

  #shown(): readonly Shown<M>[] {
    const { now } = this.#chat.list;
    return this.#questions.filter(
      (one): one is Shown<M> => one.stage === 'waits' && !!one.message && !withId(now, one.message.id),
    );
  }

  /** Lets those who show the list look at it again, and the line at what may be asked. */
  #changed(): void {
    this.#chat.list.touch();
    this.#chat.line.look();
  }

  /**
   * What of a list that an app gives does not wait. Of what does, that counts which the app left in it, as it is there. What
   * it left out is taken back where the rest is what is shown, or nothing is: a list of an earlier moment knows nothing of
   * what was sent since, and nor does the one that the AI SDK tells of when an answer has ended.
   */
  without(given: readonly M[]): readonly M[] {
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

  /** Puts a question at the end, with what its request is to be made with. */
  add(given: Message<M>, options?: ChatRequestOptions): Place<M> {
    const at = Math.max(Date.now(), (this.#questions.at(-1)?.at ?? 0) + 1);
    const question: Question<M> = { message: undefined, options, stage: 'read', isLeft: false, at };
    this.#questions = [...this.#questions, question];
    const isNext = (): boolean => !question.isLeft && /read|waits/.test(question.stage);
    return {
      // A question that can't be saved, or whose files can't be read, is refused when it is its turn.
      read: this.#read(question, given).catch(() => {}),
      held: () => (isNext() && this.#isHeld() ? this.#change() : undefined),
      take: () => {
        if (!isNext()) return null;
        question.stage = 'asked';
        this.#changed();
        return [(question.message as Message<M> | undefined) ?? given, question.options];
      },
      end: () => release(question),
    };
  }

  /**
   * Shows and keeps a question; at once, where there is no file to be read first. Rejects for one that nobody could save:
   * what a view breaks on, and what every later visit would be refused for, gets no further.
   */
  async #read(question: Question<M>, given: Message<M>): Promise<void> {
    const chat = this.#chat;
    const { id = chat.generateId(), role = 'user', text, files, parts, metadata, ...rest } = given as Words;
    const said = text === undefined ? [] : [{ type: 'text' as const, text }];
    const all = parts ?? [...(await convertFileListToFileUIParts(files as FileList | undefined)), ...said];
    if (question.stage === 'over') return;
    const own = id === question.message?.id || !this.#isTaken(id) ? id : createId();
    const message = { ...rest, id: own, role, parts: all, metadata } as unknown as M;
    savableOf(message);
    this.#say(question, message);
    // A chat that says `ready` has kept what it shows.
    if (!isAsking(chat)) await this.writing;
    if (question.stage === 'read') question.stage = 'waits';
    this.#changed();
  }

  /** Whether a message has this id. One that waits is kept under its own, and taken for saved where one is saved with it. */
  #isTaken(id: string): boolean {
    const { engine, list } = this.#chat;
    return (this.#find(id) ?? engine.node(id) ?? withId(list.now, id)) !== undefined;
  }

  #find(id: string | undefined): Question<M> | undefined {
    return this.#questions.find(({ message, stage }) => message && message.id === id && stage !== 'over');
  }

  /**
   * Whether all of them still wait when nothing grows. Where the app goes on by itself, an answer that asks the page for
   * something is not over: asked now, a question would stand behind half of it, and what the page gives would lead to
   * nothing. The person typed it before there was anything to answer.
   */
  #isHeld(): boolean {
    const asking = this.#asking();
    return asking !== undefined && asking !== this.#passed;
  }

  /** The id of the answer at the end, when it is over and a call in it waits for the page, which makes it go on. */
  #asking(): string | undefined {
    const { engine, list, branchId, host } = this.#chat;
    const last = list.now.at(-1);
    if (!last || !host.options.sendAutomaticallyWhen || !last.parts.some(waitsForPage)) return undefined;
    return engine.status(keyOf(engine, last.id, branchId) ?? '') === 'complete' ? last.id : undefined;
  }

  /** Something has changed in the chat. */
  async #change(): Promise<void> {
    const chat = this.#chat;
    let stops: (() => void)[] = [];
    await new Promise<void>((resolve) => {
      stops = [chat['~registerMessagesCallback'](resolve), chat['~registerStatusCallback'](resolve)];
    });
    for (const stop of stops) stop();
  }

  /** Something else is done than what the answer at the end asks for: what waits for that may be asked. Whether it did. */
  pass(): boolean {
    const isHeld = this.#isHeld() && !isAsking(this.#chat) && this.waiting.length > 0;
    this.#passed = this.#asking();
    this.#chat.line.look();
    return isHeld;
  }

  isWaiting(id: string | undefined): boolean {
    const question = this.#find(id);
    return question?.stage === 'waits' && !question.isLeft;
  }

  /** Keeps other words for a question that waits. Gives whether it was left, and is to be asked now; undefined for others. */
  sayAnew(message: Message<M>, options?: ChatRequestOptions): Promise<boolean> | undefined {
    const question = this.#find(message.messageId);
    if (question?.stage !== 'waits') return undefined;
    const { messageId, ...words } = message;
    const said = this.#read(question, { ...words, id: messageId } as Message<M>);
    said.catch((error: Error) => this.#chat.tell(error));
    return said.then(async () => {
      question.options = options ?? question.options;
      await this.writing;
      return question.isLeft;
    });
  }

  // ------------------------------------------------------------------ what an earlier page left

  /**
   * Puts what an earlier page left into the list, since something is said behind it; where that itself is asked, as far as the
   * question that is named.
   */
  placeLeft(id?: string): void {
    const left = this.#shown().filter(({ isLeft }) => isLeft);
    const end = id === undefined ? left.length : left.findIndex(({ message }) => message.id === id) + 1;
    const placed = left.slice(0, end);
    if (placed.length === 0) return;
    for (const question of placed) question.stage = 'asked';
    const { list } = this.#chat;
    list.now = [...list.now, ...placed.map(({ message }) => message)];
  }

  get hasPlaced(): boolean {
    return this.#questions.some(({ stage, isLeft }) => stage === 'asked' && isLeft);
  }

  refused(): void {
    for (const question of this.#questions)
      if (question.stage === 'asked' && question.isLeft && !this.#isSaved(question)) question.stage = 'waits';
    this.#changed();
  }

  /** The chat is left: from now on a question is asked only when a person says so. */
  leave(): void {
    for (const question of this.#questions) {
      question.isLeft = true;
      release(question);
    }
    this.#changed();
  }

  /** The chat was deleted: what was left in it waits no longer. */
  forgetLeft(): void {
    this.#questions = this.#questions.filter(({ isLeft }) => !isLeft);
  }

  turned(): void {
    const { engine } = this.#chat;
    for (const question of this.#questions)
      if (question.stage === 'asked' && this.#isSaved(question)) this.#forget(question);
    // What was left at the end of another branch stays there.
    this.#questions = this.#questions.filter(({ isLeft, kept }) => !isLeft || this.#isHere(kept));
    for (const question of this.#questions) if (!question.isLeft) this.#write(question);
    // A disk that took the turn may take what it refused before.
    if (engine.state.getState().saveState.state === 'error') engine.retry().catch(() => {});
  }

  /** Others have written: what they saved of what was left stands in a list, here or on another branch. */
  followed(): void {
    const { engine, branchId, list } = this.#chat;
    const isThere = ({ isLeft, message }: Question<M>): boolean => {
      const node = isLeft ? engine.node(message?.id ?? '') : undefined;
      const isElsewhere = node && (engine.branchHolding(node.key) ?? branchId) !== branchId;
      return isElsewhere || (node !== undefined && withId(list.saved, node.id) !== undefined);
    };
    if (!this.#questions.some(isThere)) return;
    this.#questions = this.#questions.filter((question) => !isThere(question));
    this.#changed();
  }

  #isSaved({ message }: Question<M>): boolean {
    return this.#chat.engine.node(message?.id ?? '') !== undefined;
  }

  // ------------------------------------------------------------------ what is kept

  /** Looks for what an earlier page left at the end of this branch, or of one that is deleted. Never rejects. */
  async recall(): Promise<void> {
    const { engine, host } = this.#chat;
    try {
      const before = await engine.fieldsOf(QUEUED);
      if (Object.keys(before).length === 0) return;
      const held = await engine.store.held(engine.chatId);
      // Another tab forgets what it has asked, and lets go of it then.
      const entries = Object.entries(await engine.fieldsOf(QUEUED)).filter(([id]) => id in before);
      const isKnown = (id: string): boolean =>
        this.#questions.some(({ message }) => message?.id === id) ||
        host.all().some(({ queue }) => queue?.isWaiting(id));
      const left = entries.flatMap(([id, entry]): Question<M>[] => {
        if (!isEntry<M>(entry, id) || isKnown(id)) return [];
        const question: Question<M> = { ...entry, stage: 'waits', isLeft: true, kept: entry };
        if (engine.node(id)) this.#forget(question);
        else if (held.has(id)) this.#lookAgain();
        else if (this.#isHere(entry)) return [question];
        return [];
      });
      if (left.length === 0) return;
      // What was left stands before what waits here.
      const all = [...left, ...this.#questions];
      this.#questions = all.toSorted((a, b) => Number(b.isLeft) - Number(a.isLeft) || a.at - b.at);
      this.#changed();
    } catch {
      // A disk that can't be read says so with the conversation.
    }
  }

  #lookAgain(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.recall(), LOOK_INTERVAL);
    (this.#timer as { unref?: () => void }).unref?.();
  }

  /** Whether what was left on a branch is shown here: on that branch, and where one looks when it is deleted. */
  #isHere(kept: Entry<M> | undefined): boolean {
    const { engine, branchId } = this.#chat;
    return (this.#branchOf(kept) ?? engine.state.getState().branchId) === branchId;
  }

  /** The branch that holds the message behind which a question waits, or the one before an answer that came to nothing. */
  #branchOf(kept: Entry<M> | undefined): string | undefined {
    const { engine } = this.#chat;
    const node = engine.node(kept?.place ?? '');
    const holder = node && engine.branchHolding(node.key);
    return holder ?? (node?.parts === 0 ? engine.branchHolding(node.parentKey ?? '') : undefined);
  }

  #say(question: Question<M>, message: M): void {
    if (question.message === message) return;
    question.message = message;
    this.#write(question);
  }

  #forget(question: Question<M>): void {
    question.stage = 'over';
    this.#write(question);
  }

  /** One write after another, each of what is to be kept when it comes. */
  #write(question: Question<M>): void {
    // A chat that is deleted keeps nothing, and what the disk refuses is the engine's to try again.
    const written = Promise.resolve(this.writing)
      .then(() => this.#store(question))
      .catch(() => {});
    this.writing = written;
    void written.finally(() => {
      if (this.writing === written) this.writing = undefined;
    });
  }

  async #store(question: Question<M>): Promise<void> {
    const { engine, branchId } = this.#chat;
    const { message, at, kept, stage, isLeft } = question;
    if (!message || !branchId) return;
    const { id } = message;
    const isOver = stage === 'over';
    if (isOver ? !kept && !question.release : this.#isSaved(question)) return;
    if (!isOver && kept?.message === message && this.#branchOf(kept) === branchId) return;
    if (!isOver && !isLeft)
      question.release ??= await engine.store.hold(engine.chatId, id).catch(() => undefined);
    const entry = isOver ? null : { place: engine.lastOf(branchId) ?? null, message, at };
    await engine.keepFields(QUEUED, { [id]: entry && { ...entry, message: savableOf(message) } });
    question.kept = entry ?? undefined;
    if (isOver || question.isLeft) release(question);
  }
}

/** How often a question that waits in another tab is looked at, in ms: a tab that dies sends no notice. */
const LOOK_INTERVAL = 2000;

/** A question that waits, on the page where it does. */
interface Question<M extends UIMessage> {
  /** Undefined while its files are read. */
  message: M | undefined;
  /** What its request is made with: it may hold a key, and is not kept. */
  options?: ChatRequestOptions | undefined;
  /** `read`: its files are read. `asked`: it is in the list, and its turn is not yet saved. `over`: asked, or taken back. */
  stage: 'read' | 'waits' | 'asked' | 'over';
  /** Whether an earlier page left it: it is asked only when a person says so. */
  isLeft: boolean;
  readonly at: number;
  /** What the store has of it. */
  kept?: Entry<M> | undefined;
  /** Lets go of the lock that tells other tabs of this one. */
  release?: (() => void) | undefined;
}

type Shown<M extends UIMessage> = Question<M> & { message: M };

/** The place of a question that waits. */
interface Place<M extends UIMessage> {
  /** Resolves when its files are read. Never rejects. */
  readonly read: Promise<void>;
  /** What it still waits for when nothing grows; undefined when it may be asked. */
  held(): Promise<void> | undefined;
  /** Takes it out, to be asked now, with the options of its request; null where a person took it back. */
  take(): readonly [message: Message<M>, options: ChatRequestOptions | undefined] | null;
  /** It was asked, or could not be: that it could not is told in the chat, and it is kept for the next page. */
  end(): void;
}

/** What is kept of a question, under its id. */
interface Entry<M extends UIMessage> {
  /** The key of the last message of the branch at whose end it waits; null for an empty one. */
  readonly place: string | null;
  readonly message: M;
  /** When it was sent, in ms since epoch, and behind what was sent before it. */
  readonly at: number;
}

/**
 * Whether what the store has under an id is a question: other tabs, and other versions of this code, may have put it there.
 */
function isEntry<M extends UIMessage>(entry: unknown, id: string): entry is Entry<M> {
  const { place, at, message } = (entry ?? {}) as Partial<Entry<M>>;
  const isPlaced = (place === null || typeof place === 'string') && typeof at === 'number';
  return isPlaced && message?.id === id && isSavable(message);
}

/** A message as it is saved: without what JSON can't hold. Throws `invalid-messages` where that is no message. */
function savableOf<M extends UIMessage>(message: M): M {
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

/** Lets go of the lock by which other tabs see that this one will ask it. */
function release(question: { release?: (() => void) | undefined }): void {
  question.release?.();
  question.release = undefined;
}

function sameIds(a: readonly UIMessage[], b: readonly UIMessage[]): boolean {
  return a.length === b.length && a.every(({ id }, i) => id === b[i]?.id);
}

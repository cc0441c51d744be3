import type { UIMessage } from 'ai';
import type { ContextChat } from '../../src/ai/index.ts';
import { textOf } from '../../src/reminded.ts';
import type { MessageNode } from '../../src/store/reads.ts';
import { fieldsIn, storedNodes } from '../support/stored.ts';
import type { Exchange } from '../support/transport.ts';
import type { MortalPage } from './person.ts';
import { noteOf, words } from './story.ts';

/**
 * Observes a person who presses every button, and reports a problem in the moment when it happens: many problems on the way are
 * gone in the end.
 */
export class Witness {
  readonly found: string[] = [];
  /** The tool calls that were answered on a page which said that everything is saved, by {@link keyOf}. */
  readonly kept: Set<string> = new Set();
  /** Every request, with its page. */
  readonly #asked: Map<Exchange, MortalPage> = new Map();
  /** The messages before each answer, and its own id, as of its request. */
  readonly #behind: Map<Exchange, readonly string[]> = new Map();
  /** The branches on which a question may be asked: the one that it was typed on, and those made since. */
  readonly #typedOn: Map<string, Typed> = new Map();
  /** How often an earlier answer may be continued, on each page. */
  readonly #goesOn: Map<MortalPage, number> = new Map();
  /** The answers that somebody continued: a complete one may be cut off then, before more is requested. */
  readonly #mayGoOn: Set<string> = new Set();
  /** The requests that continue an answer. */
  readonly #more: Set<Exchange> = new Set();
  /** The answers that a button, an edit or another try should stop. */
  readonly #toBeStopped: Set<Exchange> = new Set();
  /** The answers that were taken up, and their branches: a page checks for a moment whether it has a place for one. */
  readonly #taken: Map<Exchange, string> = new Map();
  /** The streams that pages got for answers that they asked for again, except those that they cancelled at once. */
  readonly #finds: Set<Find> = new Set();
  /**
   * The answers for which pages have reserved a place, even if they gave it up before the request, and whether they have ended.
   */
  readonly #begun: Map<string, { readonly page: MortalPage; readonly branch: string; isOver: boolean }> =
    new Map();
  /** How the last request of each answer ended, if that is sure. */
  readonly #ends: Map<string, { readonly exchange: Exchange; readonly end: string }> = new Map();
  /** The person's approvals and denials, by tool call. */
  readonly #leave: Map<string, Set<boolean>> = new Map();
  /** The sent questions that were not seen yet, neither saved nor queued. */
  readonly #unseen: Map<string, Unseen> = new Map();
  readonly #seen: Set<string> = new Set();
  /** The chats that are listened to. */
  readonly #heard: WeakSet<ContextChat> = new WeakSet();
  readonly #dead: WeakSet<MortalPage> = new WeakSet();
  readonly #checked: WeakMap<MortalPage, readonly UIMessage[]> = new WeakMap();
  readonly #isOpen: (exchange: Exchange) => boolean;

  /** `isOpen`: whether an answer may still say something. */
  constructor(isOpen: (exchange: Exchange) => boolean) {
    this.#isOpen = isOpen;
  }

  /** Observes each request of a page as it goes out, and each answer that it begins. */
  watch(page: MortalPage): MortalPage {
    page.engine.subscribe((event) => {
      if (event.type !== 'stream') return;
      const { id, branch, phase } = event;
      this.#begun.set(id, { page, branch, isOver: phase === 'end' });
    });
    const { transport, requests } = page.script;
    const { sendMessages } = transport;
    transport.sendMessages = (sent) => {
      const before = requests.length;
      const stream = sendMessages(sent);
      const exchange = requests[before];
      if (exchange) void this.#hear(page, exchange);
      return stream;
    };
    return page;
  }

  /** Checks a page in the moment when its chat says `ready`: a moment later it may be true. */
  #listen(page: MortalPage, chat: ContextChat | undefined): void {
    if (!chat || this.#heard.has(chat)) return;
    this.#heard.add(chat);
    chat['~registerStatusCallback'](() => {
      const isReady = chat.status === 'ready' && chat === page.chats.active && !this.#dead.has(page);
      // Between two answers a question may just have been typed, and is queued.
      const answers = chat.messages.filter(({ role }) => role === 'assistant');
      if (isReady) void this.#compareWords(page, answers);
    });
  }

  /** A page dies: it is not observed any more. */
  buries(page: MortalPage): void {
    this.#dead.add(page);
  }

  /** Answers follow settled messages: none is requested behind a growing one, and none is continued before one. */
  #compareChains(exchange: Exchange, chain: readonly MessageNode[]): void {
    const ids = chain.map(({ key }) => key);
    const own = String(noteOf(exchange)['answerKey']);
    const others = [...this.#behind].filter(([other]) => other !== exchange && this.#isOpen(other));
    for (const [other, before] of others) {
      const id = String(noteOf(other)['answerKey']);
      if (id !== own && ids.includes(id)) this.found.push(`${own} is asked for behind ${id}, which grows`);
      if (id !== own && before.includes(own)) this.found.push(`${own} goes on, and ${id} grows behind it`);
    }
    this.#behind.set(exchange, ids);
  }

  /** A version is made with its first word: until then, the answer that it continues stands for it. */
  async #chainOfVersion({ store }: MortalPage, exchange: Exchange): Promise<readonly MessageNode[]> {
    const of = goesOnFrom(exchange);
    const chain = of === undefined ? [] : await store.getMessageChain('c', of);
    return chain.at(-1)?.data.role === 'assistant' ? chain : [];
  }

  async #hear(page: MortalPage, exchange: Exchange): Promise<void> {
    this.#listen(page, page.chats.get(String(noteOf(exchange)['branchId'])));
    const typed = this.#comparePlaces(page, exchange);
    this.#asked.set(exchange, page);
    this.#compareAnswers(exchange);
    this.forgets(exchange);
    const { messages } = exchange.sent;
    const own = await page.store.getMessageChain('c', String(noteOf(exchange)['answerKey']));
    const chain = own.length > 0 ? own : await this.#chainOfVersion(page, exchange);
    // A request that fails or is stopped removes its reserved answer, maybe before a real disk was read.
    if (!this.#isOpen(exchange)) return;
    this.#compareChains(exchange, chain);
    if (typed) await this.#compareEnds(page, exchange, typed, chain.at(-2)?.parentKey ?? null);
    if (questionsIn(messages) !== questionsIn(chain.map(({ data }) => data)))
      this.found.push(
        `asked with "${words(messages)}", saved then was "${words(chain.map(({ data }) => data))}"`,
      );
  }

  /** A question that was asked on a branch of its own must not follow the end of the branch on which it was typed. */
  async #compareEnds(
    page: MortalPage,
    { sent: { messages } }: Exchange,
    { own: id, beside }: Typed,
    parentKey: string | null,
  ): Promise<void> {
    const own = page.engine.state.getState().branches.find((branch) => branch.id === id);
    if (!own || own.headKey !== parentKey) return;
    // Another page wrote there in that moment, and its answer was removed because it never got a word.
    const ids = new Set((await allOf(page.store)).map((node) => node.id));
    const isTakenBack = beside(own.name).some((answerId) => !ids.has(answerId));
    if (!isTakenBack)
      this.found.push(`${questionsIn(messages)} was typed at the end of ${own.name}, and is not on it`);
  }

  /** No answer is told twice at once, and no two grow in one chat. */
  #compareAnswers(exchange: Exchange): void {
    const others = [...this.#asked.keys()].filter((other) => other !== exchange && this.#isHeard(other));
    const { answerKey: answerId } = noteOf(exchange);
    const [page, branchId] = [this.#asked.get(exchange), this.#branchOf(exchange)];
    for (const other of others)
      if (noteOf(other)['answerKey'] === answerId)
        this.#tell(`${String(answerId)} is answered twice at once`);
      else if (this.#branchOf(other) === branchId && this.#asked.get(other) === page)
        this.#tell(`two answers grow at once on ${branchId}`);
  }

  #tell(problem: string): void {
    if (!this.found.includes(problem)) this.found.push(problem);
  }

  /** Whether an answer may still get words that a page reads: a page may leave a found one to another page. */
  #isHeard(exchange: Exchange): boolean {
    if (!this.#isOpen(exchange)) return false;
    const finds = [...this.#finds].filter((find) => find.exchange === exchange && this.#isAlive(find));
    return !this.#taken.has(exchange) || finds.some(({ stream }) => stream.locked);
  }

  #isAlive({ page, signal }: Find): boolean {
    const own = page();
    return own !== undefined && !this.#dead.has(own) && signal?.aborted !== true;
  }

  /** A page asked for an answer that its server still streams, and got it. */
  finds(find: Find): void {
    const { stream } = find;
    const cancel = stream.cancel.bind(stream);
    this.#finds.add(find);
    stream.cancel = (reason) => {
      this.#finds.delete(find);
      return cancel(reason);
    };
  }

  /** In the end: found answers that nobody reads or cancels, so that their servers go on for nobody. */
  left(): string[] {
    const left = [...this.#finds].filter((find) => !find.stream.locked && this.#isAlive(find));
    const ids = left.map(({ exchange }) => String(noteOf(exchange)['answerKey']));
    return ids.map((id) => `${id} was found at its server, and neither taken up nor let go`);
  }

  /** Where a question was typed, if it is asked on another branch. */
  #comparePlaces(page: MortalPage, exchange: Exchange): Typed | undefined {
    const { answerKey: answerId, branchId } = noteOf(exchange);
    const before = [...this.#asked.keys()];
    if (before.some((other) => noteOf(other)['answerKey'] === answerId)) {
      this.#countGoingOn(page, answerId);
      this.#more.add(exchange);
    }
    const text = textOf(exchange.sent.messages.findLast(({ role }) => role === 'user') ?? NOTHING);
    const typed = this.#typedOn.get(text);
    this.#typedOn.delete(text);
    if (!typed || typed.own === branchId) return undefined;
    if (typed.others.has(String(branchId)))
      this.found.push(`${text} was typed on ${typed.own}, and asked on ${String(branchId)}`);
    return typed;
  }

  /** Whether an answer is for this page. */
  isFor(page: MortalPage, exchange: Exchange): boolean {
    return this.#asked.get(exchange) === page;
  }

  /** A page takes up an answer that a dead page requested, maybe on another branch that holds it. */
  takesUp(page: MortalPage, exchange: Exchange, branchId: string): void {
    const gone = this.#asked.get(exchange);
    // The results of its tool calls may let it continue here when it ends.
    if (gone && gone !== page && this.#mayGoOn.has(String(noteOf(exchange)['answerId'])))
      this.#goesOn.set(page, (this.#goesOn.get(page) ?? 0) + (this.#goesOn.get(gone) ?? 0));
    this.#asked.set(exchange, page);
    this.#taken.set(exchange, branchId);
    // Its server went on, though it was stopped here.
    this.#toBeStopped.delete(exchange);
  }

  /** The branch whose chat has the answer. Acts on other branches that hold it do not stop it. */
  #branchOf(exchange: Exchange): string {
    return this.#taken.get(exchange) ?? String(noteOf(exchange)['branchId']);
  }

  /** Whether an answer was ever requested. */
  hasAskedFor(id: string): boolean {
    return [...this.#asked.keys()].some((exchange) => noteOf(exchange)['answerKey'] === id);
  }

  #countGoingOn(page: MortalPage, answerId: unknown): void {
    const left = (this.#goesOn.get(page) ?? 0) - 1;
    this.#goesOn.set(page, left);
    if (left < 0) this.found.push(`${String(answerId)} goes on, and nobody asked for that`);
  }

  /** Somebody types a question into a chat. */
  types(text: string, page: MortalPage, chat: ContextChat): void {
    const own = chat.branchId;
    if (own === undefined) return;
    // A branch that is being made for the chat counts as its own.
    const { branches } = page.engine.state.getState();
    const others = new Set(branches.flatMap(({ id }) => (page.chats.get(id) === chat ? [] : [id])));
    const over = new Set([...this.#begun].flatMap(([id, { isOver }]) => (isOver ? [id] : [])));
    const beside = (name: string): string[] =>
      [...this.#begun].flatMap(([id, { page: by, branch }]) =>
        by !== page && !over.has(id) && branch === name ? [id] : [],
      );
    this.#typedOn.set(text, { own, others, beside });
  }

  /** A question is sent. It must not be lost from now on: soon it is saved, or queued. */
  sends(text: string, page: MortalPage, now: number | undefined): void {
    this.#unseen.set(text, { page, since: now, looks: 0 });
  }

  /** A question was refused, or its page died before it was written. */
  isExcused(text: string): void {
    this.#unseen.delete(text);
  }

  /** Whether a question was once saved or queued: then it must be there in the end. */
  hasSeen(text: string): boolean {
    return this.#seen.has(text);
  }

  async #lookForQuestions(page: MortalPage, now: number | undefined): Promise<void> {
    const own = [...this.#unseen].filter(([, unseen]) => unseen.page === page);
    if (own.length === 0) return;
    const known = await textsOf(page.store);
    for (const [text, unseen] of own) {
      if (known.includes(text)) {
        this.#seen.add(text);
        this.#unseen.delete(text);
      } else if (now !== undefined && now - (unseen.since ?? now) > SOON && (unseen.looks += 1) === LOOKS)
        this.found.push(`${text} was sent, and is neither saved nor kept for its turn`);
    }
  }

  /** Somebody continues an answer: directly, or by a tool result. */
  letsGoOn(page: MortalPage, messages: readonly UIMessage[]): void {
    for (const { id } of messages) this.#mayGoOn.add(id);
    this.#goesOn.set(page, (this.#goesOn.get(page) ?? 0) + 1);
  }

  /** Somebody stops answers, or asks for another version, which stops the growing ones of its chat. */
  toBeStopped(growing: readonly Exchange[]): true {
    for (const exchange of growing) this.#toBeStopped.add(exchange);
    return true;
  }

  /** The growing answers of a chat: on its branch, or on one that is made with their first word. */
  growingIn(page: MortalPage, { branchId, messages, isBusy }: ContextChat): Exchange[] {
    const last = isBusy ? messages.at(-1)?.id : undefined;
    const isVersion = (exchange: Exchange): boolean =>
      page.engine.status(String(noteOf(exchange)['answerKey'])) === undefined &&
      goesOnFrom(exchange) === last;
    return this.#openOf(page).filter(
      (exchange) => this.#branchOf(exchange) === branchId || isVersion(exchange),
    );
  }

  /** A stop has ended: so must the answers that grew. */
  hasStopped({ engine }: MortalPage, stopped: readonly Exchange[]): void {
    for (const exchange of stopped) {
      const id = String(noteOf(exchange)['answerKey']);
      const isAskedAgain =
        [...this.#asked.keys()].findLast((one) => noteOf(one)['answerKey'] === id) !== exchange;
      if (!isAskedAgain && engine.status(id) === 'streaming')
        this.found.push(`${id} was stopped, and is not settled`);
    }
  }

  /** A tool result, or an approval, was acknowledged as saved. */
  async isKept({ store }: MortalPage, owner: string, toolCallId: string): Promise<void> {
    const node = await store.getMessage('c', owner);
    const call = node && callsIn(node.data).find((one) => one.toolCallId === toolCallId);
    if (call && waits(call)) this.found.push(`${toolCallId} was told to be kept, and is not`);
  }

  /** A person approves or denies a tool call. */
  gives(toolCallId: string, approved: boolean): void {
    this.#leave.set(toolCallId, (this.#leave.get(toolCallId) ?? new Set()).add(approved));
  }

  /** A server ended an answer. */
  ends(exchange: Exchange, end: string): void {
    this.#ends.set(String(noteOf(exchange)['answerKey']), { exchange, end });
  }

  /** How an answer ended is not sure: its page died, or it is continued. */
  forgets(exchange: Exchange): void {
    this.#ends.delete(String(noteOf(exchange)['answerKey']));
  }

  /** Checks what must hold between any two acts. */
  async look(page: MortalPage, now?: number): Promise<void> {
    const { chats } = page;
    for (const exchange of this.#openOf(page).filter((one) => this.#isHeard(one)))
      this.#compareAnswers(exchange);
    await this.#lookForQuestions(page, now);
    for (const exchange of this.#openOf(page).filter((one) => !this.#taken.has(one))) {
      const branch = String(noteOf(exchange)['branchId']);
      if (chats.get(branch)?.isBusy === false) this.found.push(`nobody minds the answer on ${branch}`);
    }
    const { messages, status } = chats.active;
    if (status !== 'ready' || this.#checked.get(page) === messages) return;
    const isIdle = !chats.active.isBusy && page.engine.attached?.isBusy !== true;
    if (isIdle) this.#checked.set(page, messages);
    const stored = await this.#compareWords(page, messages);
    // A result that another chat of the page got is shown here, too, a moment before that chat has saved it.
    if (isIdle) for (const message of messages) this.#compareCalls(page, message, stored.get(message.id));
  }

  /** Checks that a page which says `ready` has saved all that it shows. Returns what is stored. */
  async #compareWords(
    page: MortalPage,
    messages: readonly UIMessage[],
  ): Promise<ReadonlyMap<string, UIMessage>> {
    const { isBusy } = page.chats.active;
    // Words of another chat of the page are shown here, too, and that chat does not say `ready`.
    const isOther = !isBusy && page.engine.attached?.isBusy === true;
    const ids = messages.map(({ id }) => id);
    // Read both at once: the next request may continue this very answer.
    const [waiting, nodes] = await Promise.all([queued(page.store), storedNodes(page.store, 'c', ids)]);
    // Versions may share an id: the one with the shown content counts.
    const all = [...waiting.map(({ message }) => message), ...nodes.map(({ data }) => data)];
    const storedAs = (one: UIMessage): UIMessage | undefined =>
      all.findLast((other) => other.id === one.id && beginsWith(other, one));
    // The stored answer may be longer: another chat of the page continues it.
    const unsaved = isOther ? undefined : messages.find((one) => !storedAs(one));
    if (unsaved) this.found.push(`ready, and "${textOf(unsaved)}" (${unsaved.id}) is not saved`);
    const unsettled = nodes.find((node) => node.status === 'streaming' && this.#hasEnded(page, node));
    // An answer that somebody continued meanwhile streams again, and its page is busy.
    if (unsettled && !isBusy && !page.chats.active.isBusy)
      this.found.push(`ready, and ${unsettled.id} is not settled`);
    return new Map(messages.flatMap((one) => [[one.id, storedAs(one) ?? NOTHING]]));
  }

  /** Whether the shown chat had an answer that ended, and that nobody continues. */
  #hasEnded(page: MortalPage, { id, key }: MessageNode): boolean {
    const exchange = this.#ends.get(key)?.exchange;
    if (!exchange || exchange.isStopped || this.#mayGoOn.has(id)) return false;
    return this.isFor(page, exchange) && this.#branchOf(exchange) === page.chats.active.branchId;
  }

  /** A tool call that is answered on an idle page is answered in the store. */
  #compareCalls({ engine }: MortalPage, shown: UIMessage, stored: UIMessage | undefined): void {
    const saved = new Map(callsIn(stored ?? NOTHING).map((call) => [call.toolCallId, call]));
    for (const call of callsIn(shown).filter((one) => !waits(one))) {
      const own = saved.get(call.toolCallId);
      if (own && !waits(own)) this.kept.add(keyOf(engine.node(shown.id)?.key ?? shown.id, call.toolCallId));
      else this.found.push(`ready, and the result of ${call.toolCallId} is not saved`);
    }
  }

  #openOf(page: MortalPage): Exchange[] {
    return [...this.#asked].flatMap(([exchange, own]) =>
      own === page && this.#isOpen(exchange) ? [exchange] : [],
    );
  }

  /** Checks, before everything is brought to its end, what should have stopped by now. */
  checkStops(): void {
    for (const exchange of this.#toBeStopped)
      if (this.#isOpen(exchange)) this.found.push(`${String(noteOf(exchange)['answerKey'])} was not stopped`);
  }

  /** The problems of a stored message in the end. */
  wrongIn(node: MessageNode): string[] {
    return [
      ...this.#wrongEnd(node),
      ...brokenIn(node),
      ...callsIn(node.data).flatMap((call) => this.#wrongCall(call)),
    ];
  }

  #wrongEnd({ id, key, status, data }: MessageNode): string[] {
    const known = this.#ends.get(key);
    if (!known || known.exchange.isStopped || this.#mayGoOn.has(id)) return [];
    const { end, exchange } = known;
    // More was requested, and no word came: the answer is what it was.
    if (this.#more.has(exchange) && exchange.isSilent) return [];
    // A connection that closes without a finish was cut where a text had begun.
    if (end === 'drop' && textOf(data) === '') return [];
    const expected = end === 'finish' ? 'complete' : 'interrupted';
    return status === expected ? [] : [`${id} is ${status} after "${end}"`];
  }

  #wrongCall({ toolCallId, state, input, output, approval }: Call): string[] {
    if (state === 'output-available' && output !== input.sides)
      return [`${toolCallId} was given "${String(output)}"`];
    const leave = this.#leave.get(toolCallId);
    const isWrong = approval?.approved !== undefined && !leave?.has(approval.approved);
    return isWrong ? [`${toolCallId} was told ${String(approval.approved)}`] : [];
  }
}

/** Sentences that broke off, and continue as another part. */
function brokenIn({ id, data }: MessageNode): string[] {
  const parts = data.parts.filter(({ type }) => type !== 'step-start');
  return parts.flatMap((part, i) => {
    const isCut = part.type === 'text' && part.state === 'streaming' && parts[i + 1]?.type === 'text';
    return isCut ? [`${id} breaks off after "${part.text}", and goes on`] : [];
  });
}

/** The message that a request continues: one without anything to send is named by its id alone. */
function goesOnFrom({ sent: { trigger, messageId, messages } }: Exchange): string | undefined {
  const last = messages.at(-1);
  const id = last?.role === 'assistant' ? last.id : messageId;
  return trigger === 'submit-message' ? id : undefined;
}

function beginsWith(stored: UIMessage | undefined, shown: UIMessage): boolean {
  return stored !== undefined && textOf(stored).startsWith(textOf(shown));
}

const NOTHING: UIMessage = { id: '', role: 'user', parts: [] };

/** The branch on which a question was typed, and all branches at that time. */
interface Typed {
  readonly own: string;
  readonly others: ReadonlySet<string>;
  /** The answers that other pages have begun on a branch of that name since, or had not ended. */
  readonly beside: (name: string) => readonly string[];
}

/** A tool call in a message. */
export interface Call {
  readonly type: string;
  readonly toolCallId: string;
  readonly state: string;
  /** Of a die: it shows as many eyes as it has sides. */
  readonly input: { readonly sides: number };
  readonly output?: unknown;
  readonly approval?: { readonly id: string; readonly approved?: boolean };
}

/** A tool call of one answer: versions of that answer have the same call, with results of their own. */
export function keyOf(answerKey: string, toolCallId: string): string {
  return `${answerKey} ${toolCallId}`;
}

/** The calls of tools in a message. */
export function callsIn({ parts }: UIMessage): Call[] {
  return parts.flatMap((part) => ('toolCallId' in part ? [part as Call] : []));
}

/** Whether a call waits for its result, or for leave. */
export function waits({ state }: Call): boolean {
  return state === 'input-available' || state === 'approval-requested';
}

/** A queued question. */
export interface Queued {
  readonly place: string | null;
  readonly at: number;
  readonly message: UIMessage;
}

/** The queued questions in the store, oldest first. */
export async function queued(store: MortalPage['store']): Promise<Queued[]> {
  const kept = Object.values(await fieldsIn(store, 'queued')) as Queued[];
  return kept.toSorted((a, b) => a.at - b.at);
}

/** The texts of all saved messages, and of the queued questions. */
export async function textsOf(store: MortalPage['store']): Promise<string[]> {
  const saved = (await allOf(store)).map(({ data }) => data);
  const ids = new Set(saved.map(({ id }) => id));
  const waiting = (await queued(store)).flatMap(({ message }) => (ids.has(message.id) ? [] : [message]));
  return [...saved, ...waiting].map(textOf);
}

/** A stream that a server still had when a page asked for its answer. */
interface Find {
  readonly exchange: Exchange;
  readonly stream: Exchange['stream'];
  readonly signal: AbortSignal | undefined;
  /** The page that asked, once it is open. */
  readonly page: () => MortalPage | undefined;
}

/** How long it may take until a sent question is seen somewhere, in ms, and how often that is checked. */
const SOON = 2000;
const LOOKS = 3;

interface Unseen {
  readonly page: MortalPage;
  readonly since: number | undefined;
  looks: number;
}

/** All that is stored of the chat. */
export async function allOf(store: MortalPage['store']): Promise<MessageNode[]> {
  return storedNodes(store);
}

function questionsIn(messages: readonly UIMessage[]): string {
  return messages.flatMap((message) => (message.role === 'user' ? [textOf(message)] : [])).join(' ');
}

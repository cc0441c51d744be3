import { type UIMessage, type UIMessageChunk } from 'ai';
import { textOf } from '../../src/reminded.ts';
import type { MessageNode } from '../../src/store/reads.ts';
import type { ContextChat } from '../../src/ai/index.ts';
import type { ContextEngine } from '../../src/engine/engine.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { realTime, type Time } from '../support/clock.ts';
import type { Exchange } from '../support/transport.ts';
import { noteOf, openPlainly, SDK, words, type Page } from './story.ts';
import { allOf, callsIn, keyOf, queued, textsOf, waits, Witness, type Call } from './witness.ts';

/**
 * A person who presses every button, on two pages of one chat, in any order and at any moment, while tools are called, the
 * network fails and pages are reloaded. Whatever they do: each word is on the node of its answer, each question is there once,
 * each result is with its tool call, what is shown is what is saved, and nothing hangs.
 */

/** A page that can die: its later writes go nowhere, and its locks end. */
export interface MortalPage extends Pick<Page, 'engine' | 'chats' | 'script' | 'store'> {
  kill(): void;
  /** Sends by typing; resolves when the question is asked. */
  readonly type: (text: string) => Promise<unknown>;
  /** Presses a button of the page; false where there is none of that name. `id`: in this message, or at this call. */
  readonly press: (name: string, id?: string) => boolean;
  /** Edits by a button, where there is one; undefined where not. Resolves when the edit is asked. */
  readonly edit: (id: string, text: string) => Promise<unknown> | undefined;
  /** The callbacks of the app, line by line. */
  readonly notices: () => readonly string[];
  /** The screen, in the form of {@link words}. */
  readonly seen: () => string;
  /** The text of a message's pager, as `2 / 3`; '' without a pager. */
  readonly pager: (id: string) => string;
}

/** A store for one page, and a function that ends the page. `pause`: how long each of its writes takes, in ms. */
export function mortal(
  store: ContextStore,
  pause = 0,
): { readonly store: ContextStore; readonly kill: () => void } {
  const held = new Set<() => void>();
  let isDead = false;
  const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, pause));
  const never = new Promise<never>(() => {});
  const own: ContextStore = new Proxy(store, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      const call = (args: unknown[]): unknown => (isDead ? never : Reflect.apply(value, target, args));
      return (...args: unknown[]): unknown => {
        const result = key === 'commit' && pause > 0 ? soon().then(() => call(args)) : call(args);
        return key === 'hold' && !isDead ? (result as Promise<() => void>).then(kept) : result;
      };
    },
  });
  const kept = (release: () => void): (() => void) => {
    if (isDead) release();
    else held.add(release);
    return release;
  };
  const kill = (): void => {
    isDead = true;
    for (const release of held) release();
  };
  return { store: own, kill };
}

/** How long the writes of a run take, in ms. */
const PAUSES = [0, 3, 0, 30];

/** The settings of a run's pages. */
interface Manner {
  /** How long each write takes, in ms. */
  readonly pause: number;
  readonly reconnect: Reconnect;
}

/**
 * What a server still streams of the answer that a page shows at its end, from its beginning on; null for nothing. The branch
 * is that of the chat that asks.
 */
export type Reconnect = (
  answerId: string | undefined,
  branchId: string,
  signal: AbortSignal | undefined,
) => ReadableStream<UIMessageChunk> | null;

type Opener = (reconnect: Reconnect) => Promise<MortalPage>;

/** The surroundings of a run. */
export interface Place {
  /** Makes a store on the same data for each page, and each reload. */
  readonly store: () => ContextStore;
  /** Default: real time. */
  readonly time?: Time;
  /** Opens a page of the app. */
  readonly open: (store: ContextStore, manner: Manner) => Promise<MortalPage>;
}

/** An act of a person, or of a server; false where it is not possible. */
type Act = () => boolean | Promise<boolean>;

/** How often another act is tried in place of an impossible one. */
const TRIES = 4;

/** How long the person takes to move the mouse to another page, in ms. */
const WAY = 150;
const STEP = 25;

/** How often a run checks whether everything has ended, 20 ms apart, before it reports a hang. */
const ROUNDS = 2000;

function times(count: number, act: Act): readonly Act[] {
  return Array.from({ length: count }, () => act);
}

/** One run of the person, on one or two pages of one chat. */
export class Run {
  readonly #pages: MortalPage[];
  /** The page with the mouse. */
  #page: MortalPage;
  readonly #random: () => number;
  readonly #log: string[] = [];
  /** How often each act was done: by the name of its button, else by its word in the log. */
  readonly done: Map<string, number> = new Map();
  /** The words of each answer, by its key. A word that was on its way at a stop is unsure. */
  readonly #said: Map<string, Word[]> = new Map();
  /** The words that nobody has read yet, and their requests. */
  readonly #unread: Map<Word, Exchange> = new Map();
  readonly #questions: Question[] = [];
  /** The answer of each tool call, by the id of the call. */
  readonly #calls: Map<string, string> = new Map();
  /** The tool calls that ask for approval. */
  readonly #asking: Set<string> = new Set();
  /** The tool calls whose result was acknowledged as saved, by {@link keyOf}. */
  readonly #answered: Set<string> = new Set();
  /** The tool calls that were answered by a button, which acknowledges nothing. */
  readonly #pressed: Pressed[] = [];
  /** The acts that have not ended, and their pages. */
  readonly #running: Map<Promise<unknown>, { readonly page: MortalPage; readonly what: string }> = new Map();
  readonly #ended: Set<Exchange> = new Set();
  #words = 0;
  /** The answers that a server continues though their page is gone. */
  readonly #kept: Set<Exchange> = new Set();
  readonly #open: Opener;
  readonly #time: Time;
  readonly #found: string[] = [];
  readonly #witness: Witness = new Witness((exchange) => !exchange.isStopped && !this.#ended.has(exchange));

  private constructor(seed: number, open: Opener, page: MortalPage, time: Time) {
    this.#page = this.#witness.watch(page);
    this.#pages = [page];
    this.#open = open;
    this.#time = time;
    this.#random = randomOf(seed);
  }

  /** Opens a page on a chat. Another one may open later. */
  static async begin(seed: number, { store, time = realTime, open }: Place): Promise<Run> {
    const opened = async (reconnect: Reconnect): Promise<MortalPage> => {
      const own = store();
      // A database takes time of its own.
      const pause = own instanceof InMemoryContextStore ? (PAUSES[seed % PAUSES.length] ?? 0) : 0;
      const page = await time.during(open(own, { pause, reconnect }));
      if (!page) throw new Error('A page does not open.');
      return page;
    };
    return new Run(seed, opened, await opened(() => null), time);
  }

  async act(): Promise<void> {
    this.#lookForReaders();
    if (this.#random() < 0.1) await this.#turnTo(this.#pick(this.#pages));
    const acts = this.#acts();
    for (let tries = TRIES; tries > 0; tries -= 1) if (await this.#pick(acts)?.()) break;
    for (let pause = Math.floor(this.#random() * 4); pause > 0; pause -= 1)
      await this.#time.pass(this.#pause());
    this.#found.push(...this.#doubled());
    await this.#time.during(Promise.all(this.#pages.map((page) => this.#witness.look(page, this.#time.now))));
  }

  /**
   * Moves the mouse to another page, which takes a moment, or none: then something is pressed before any page hears of the last
   * press.
   */
  async #turnTo(page = this.#page): Promise<void> {
    // In steps: a database has its own time.
    for (let step = this.#random() < 0.5 ? WAY : 0; page !== this.#page && step < WAY; step += STEP)
      await this.#time.pass(STEP);
    this.#page = page;
  }

  #acts(): readonly Act[] {
    return [
      () => this.#send(),
      () => this.#edit(),
      () => this.#again(),
      () => this.#random() < 0.4 && this.#stop(),
      () => this.#goOn(),
      () => this.#move(),
      () => this.#end(),
      () => this.#meet(),
      () => this.#random() < 0.2 && this.#reload(),
      () => this.#random() < 0.15 && this.#goOffline(),
      ...times(2, () => this.#call()),
      ...times(3, () => this.#openTab()),
      ...times(3, () => this.#say()),
      ...times(4, () => this.#answer()),
    ];
  }

  /** Mostly the shown chat; now and then that of another branch. */
  get #chat(): ContextChat {
    const { chats, engine } = this.#page;
    const branch = this.#random() < 0.15 && this.#pick(engine.state.getState().branches);
    return (branch && chats.get(branch.id)) || chats.active;
  }

  /** Mostly no pause; now and then as long as a draft, a check of other tabs, or the disposal of a chat takes. */
  #pause(): number {
    const chance = this.#random();
    if (chance < 0.9) return 1;
    return chance < 0.96 ? 120 : chance < 0.985 ? 600 : chance < 0.99 ? 2500 : 61_000;
  }

  #send(): true {
    const question = this.#question();
    const { text } = question;
    const chat = this.#chat;
    this.#note(`send ${text}`);
    this.#witness.sends(text, this.#page, this.#time.now);
    if (chat === this.#page.chats.active) {
      this.#count('Send');
      return this.#run(this.#page.type(text), question);
    }
    this.#witness.types(text, this.#page, chat);
    return this.#run(chat.sendMessage({ text }), question);
  }

  /** The next request fails before a word comes. */
  #goOffline(): true {
    this.#note('offline');
    this.#page.script.refuse(new TypeError('Failed to fetch'));
    return true;
  }

  /** Calls one or two tools, which wait for a result of the page, or for an approval. */
  async #call(): Promise<boolean> {
    const exchange = this.#pick(this.#streams());
    if (!exchange) return false;
    await this.#callIn(exchange);
    if (this.#random() < 0.7) await this.#callIn(exchange);
    return true;
  }

  async #callIn(exchange: Exchange): Promise<void> {
    const sides = (this.#words += 1);
    const toolCallId = `t${sides}`;
    const id = String(noteOf(exchange)['answerKey']);
    const asks = SDK > 5 && this.#random() < 0.5;
    this.#note(`${asks ? 'ask leave for' : 'call'} ${toolCallId} in ${id.slice(4, 8)}`);
    this.#calls.set(toolCallId, id);
    if (asks) this.#asking.add(toolCallId);
    const asking = { type: 'tool-approval-request', approvalId: `ok-${toolCallId}`, toolCallId } as const;
    await this.#time.during(
      exchange.send(
        { type: 'tool-input-available', toolCallId, toolName: 'dice', input: { sides } },
        ...(asks ? [asking] : []),
      ),
    );
  }

  /** The other page continues an answer that this page continues, or answers a tool call in it. */
  async #meet(): Promise<boolean> {
    const other = this.#pages.find((page) => page !== this.#page);
    if (!other || !this.#goOn(this.#page.chats.active)) return false;
    const own = this.#page;
    await this.#turnTo(other);
    if (!this.#answer(other.chats.active)) this.#goOn(other.chats.active);
    await this.#turnTo(own);
    return true;
  }

  /** A tool with approval runs on the server: the page gives no result between the call and the approval request. */
  #isMeantFor({ toolCallId, approval }: Call): boolean {
    return approval !== undefined || !this.#asking.has(toolCallId);
  }

  /** Gives a waiting tool call on this page its result, an approval, or a denial. */
  #answer(from = this.#chat): boolean {
    const page = this.#page;
    const chat = page.chats.active;
    const { messages } = from;
    const waiting = messages.flatMap((message) =>
      callsIn(message).flatMap((call) =>
        waits(call) && this.#isMeantFor(call)
          ? [{ ...call, owner: page.engine.node(message.id)?.key ?? message.id }]
          : [],
      ),
    );
    const call = this.#pick(waiting);
    if (!call) return false;
    const { toolCallId, input, approval, owner } = call;
    const approved = this.#random() < 0.5;
    if (approval) this.#witness.gives(toolCallId, approved);
    this.#witness.letsGoOn(page, messages);
    this.#note(`answer ${toolCallId} ${approval ? approved : ''}`);
    const button = approval ? (approved ? 'Approve' : 'Deny') : 'Give';
    if (from === chat && this.#press(button, toolCallId))
      return this.#pressed.push({ owner, toolCallId, page, told: page.notices().length }) > 0;
    const given = async (): Promise<void> => {
      if (approval) await chat.addToolApprovalResponse({ id: approval.id, approved });
      else await chat.addToolOutput({ tool: 'dice' as never, toolCallId, output: input.sides });
      this.#answered.add(keyOf(owner, toolCallId));
      await this.#witness.isKept(page, owner, toolCallId);
    };
    return this.#run(given());
  }

  /** A second page of the chat. */
  async #openTab(): Promise<boolean> {
    if (this.#pages.length > 1) return false;
    this.#note('open a tab');
    const page = await this.#another();
    this.#pages.push(page);
    await this.#turnTo(page);
    return true;
  }

  /** The page dies at once, with everything unwritten, and another one opens in its place. */
  async #reload(): Promise<true> {
    const dead = this.#page;
    this.#note('reload');
    for (const exchange of [...dead.script.requests, ...this.#kept])
      if (this.#witness.isFor(dead, exchange)) this.#leave(exchange);
    for (const question of this.#questions)
      if (question.page === dead && !question.isSettled) {
        question.isSure = this.#witness.hasSeen(question.text);
        this.#witness.isExcused(question.text);
      }
    this.#witness.buries(dead);
    dead.kill();
    // Requests that it was about to make are never made.
    dead.script.transport.sendMessages = () => new Promise(() => {});
    for (const [running, { page }] of this.#running) if (page === dead) this.#running.delete(running);
    const page = await this.#another();
    this.#pages[this.#pages.indexOf(dead)] = page;
    this.#page = page;
    return true;
  }

  /** Another page, which takes up what a server still streams. */
  async #another(): Promise<MortalPage> {
    const taken: (readonly [exchange: Exchange, branchId: string])[] = [];
    const own: { page?: MortalPage } = {};
    const reconnect: Reconnect = (answerId, branchId, signal) => {
      const running = [...this.#kept].filter((one) => !this.#ended.has(one));
      const exchange = running.find((one) => noteOf(one)['answerId'] === answerId);
      if (!exchange) return null;
      if (exchange.isStopped) {
        taken.push([exchange, branchId]);
        if (own.page) this.#witness.takesUp(own.page, exchange, branchId);
      }
      this.#note(`take up ${String(noteOf(exchange)['answerKey']).slice(4, 8)}`);
      const stream = exchange.replay(signal);
      this.#witness.finds({ exchange, stream, signal, page: () => own.page });
      return stream;
    };
    own.page = this.#witness.watch(await this.#open(reconnect));
    for (const [exchange, branchId] of taken) this.#witness.takesUp(own.page, exchange, branchId);
    return own.page;
  }

  /** The page of an answer is gone: some servers continue, and most don't. */
  #leave(exchange: Exchange): void {
    const id = String(noteOf(exchange)['answerKey']);
    const isOpen = !exchange.isStopped && !this.#ended.has(exchange);
    if (!isOpen || this.#random() < 0.5) return this.#lose(exchange);
    this.#kept.add(exchange);
    this.#note(`the server keeps ${id.slice(4, 8)}`);
    this.#unsure(id);
    exchange.leave();
  }

  #unsure(id: string): void {
    const said = this.#said.get(id) ?? [];
    this.#said.set(
      id,
      said.map(({ word }) => ({ word, isSure: false })),
    );
  }

  /** Unsaved words of a page that is gone may be lost or not. */
  #lose(exchange: Exchange): void {
    if (this.#ended.has(exchange) && !this.#isSettling(exchange)) return;
    this.#ended.add(exchange);
    this.#witness.forgets(exchange);
    this.#unsure(String(noteOf(exchange)['answerKey']));
  }

  /** Whether the end of an answer is not on the disk yet: the engine's event comes before, its `saveState` does not. */
  #isSettling(exchange: Exchange): boolean {
    const { engine } = this.#page;
    const isStreaming = engine.status(String(noteOf(exchange)['answerKey'])) === 'streaming';
    return isStreaming || engine.state.getState().saveState.state === 'saving';
  }

  #edit(): boolean {
    const chat = this.#chat;
    const message = this.#pick(chat.messages.filter(({ role }) => role === 'user'));
    if (!message || this.#page.engine.status(message.id) === undefined) return false;
    const question = this.#question();
    const { text } = question;
    this.#note(`edit ${textOf(message)} to ${text}`);
    this.#witness.toBeStopped(this.#witness.growingIn(this.#page, chat));
    const edited = chat === this.#page.chats.active && this.#page.edit(message.id, text);
    if (edited) this.#count('Edit');
    return this.#run(edited || chat.sendMessage({ text, messageId: message.id }), question);
  }

  #again(): boolean {
    const chat = this.#chat;
    const message = this.#pick(chat.messages);
    if (!message || this.#page.engine.status(message.id) === undefined) return false;
    this.#note(`again ${textOf(message)}`);
    const isLast = message === this.#page.chats.active.messages.at(-1);
    if (isLast && this.#press('Try again')) return true;
    this.#witness.toBeStopped(this.#witness.growingIn(this.#page, chat));
    return this.#run(chat.regenerate({ messageId: message.id }));
  }

  #stop(): boolean {
    const page = this.#page;
    const shown = page.chats.active;
    const stopped = this.#witness.growingIn(page, shown);
    this.#note('stop');
    if (this.#press('Stop')) return this.#witness.toBeStopped(stopped);
    const chat = this.#chat;
    const growing = this.#witness.growingIn(page, chat);
    this.#run(chat.stop().then(() => this.#witness.hasStopped(page, growing)));
    return growing.length > 0;
  }

  #goOn(chat = this.#chat): boolean {
    const last = chat.messages.at(-1);
    if (last?.role !== 'assistant') return false;
    this.#note(`go on ${textOf(last)}`);
    this.#witness.letsGoOn(this.#page, chat.messages);
    if (chat === this.#page.chats.active && this.#press('Continue')) return true;
    return this.#run(chat.sendMessage());
  }

  #move(): boolean {
    const { engine } = this.#page;
    const branch = this.#pick(engine.state.getState().branches);
    const message = this.#pick(engine.state.getState().messages);
    if (!branch || !message) return false;
    const move = this.#pick(['switch', 'rewind', 'checkout', 'btw', 'page', 'page'] as const);
    if (move === 'page') return this.#turnPage();
    this.#note(`${move} ${move === 'switch' ? branch.name : textOf(message)}`);
    if (move === 'switch') return this.#run(engine.switchBranch(branch.id));
    if (move === 'rewind') return this.#run(engine.rewind(message.id));
    if (move === 'checkout') return this.#run(engine.checkout(message.id));
    return this.#run(engine.btw().catch(() => {}));
  }

  /** Shows another version of a message. */
  #turnPage(): boolean {
    const { engine, chats } = this.#page;
    const message = this.#pick(chats.active.messages.filter(({ id }) => engine.siblings(id).ids.length > 1));
    if (!message) return false;
    const { index, ids } = engine.siblings(message.id);
    const by = this.#random() < 0.5 ? -1 : 1;
    this.#note(`version ${index + by} of ${textOf(message)}`);
    if (this.#press(by < 0 ? 'Previous version' : 'Next version', message.id)) return true;
    const target = ids[index + by];
    return target !== undefined && this.#run(engine.selectSibling(target));
  }

  async #say(): Promise<boolean> {
    const exchange = this.#pick(this.#streams());
    if (!exchange) return false;
    const word = `w${(this.#words += 1)} `;
    const id = String(noteOf(exchange)['answerKey']);
    this.#note(`say ${word}to ${id.slice(4, 8)}`);
    await this.#time.during(exchange.say(word));
    const said: Word = { word, isSure: false };
    this.#said.set(id, [...(this.#said.get(id) ?? []), said]);
    this.#unread.set(said, exchange);
    this.#lookForReaders();
    return true;
  }

  /** Marks words as sure that were read by a page which did not stop. */
  #lookForReaders(): void {
    for (const [word, { isStopped, isRead }] of this.#unread) {
      if (!isStopped && !isRead) continue;
      word.isSure = !isStopped;
      this.#unread.delete(word);
    }
  }

  async #end(): Promise<boolean> {
    const exchange = this.#pick(this.#streams());
    if (!exchange) return false;
    this.#ended.add(exchange);
    const end = this.#pick(['finish', 'finish', 'fail', 'break', 'drop'] as const) ?? 'finish';
    this.#note(`${end} ${String(noteOf(exchange)['answerKey']).slice(4, 8)}`);
    this.#witness.ends(exchange, end);
    await this.#time.during(end === 'fail' ? exchange.fail('overloaded') : exchange[end]());
    return true;
  }

  #streams(): Exchange[] {
    return [...this.#pages.flatMap(({ script }) => script.requests), ...this.#kept].filter(
      (exchange) => !exchange.isStopped && !this.#ended.has(exchange),
    );
  }

  #question(): Question {
    const text = `q${this.#questions.length}`;
    const question = { text, page: this.#page, isSure: true, isSettled: false };
    this.#questions.push(question);
    return question;
  }

  #run(action: Promise<unknown>, question?: Question): true {
    const page = this.#page;
    const running = action.catch((error: unknown) => {
      this.#note(`refused: ${String(error)}`);
      if (question) this.#witness.isExcused(question.text);
    });
    this.#running.set(running, { page, what: this.#log.at(-1) ?? '' });
    const settled = (): void => {
      this.#running.delete(running);
      if (question) question.isSettled = true;
    };
    void running.then(settled);
    return true;
  }

  /** Presses a button of the page, if it has one of that name. */
  #press(name: string, id?: string): boolean {
    const isPressed = this.#page.press(name, id);
    if (isPressed) this.#count(name);
    return isPressed;
  }

  #count(what: string): void {
    this.done.set(what, (this.done.get(what) ?? 0) + 1);
  }

  #note(line: string): void {
    this.#count(line.split(' ')[0] ?? '');
    this.#log.push(`${this.#pages.indexOf(this.#page)}: ${line}`);
  }

  #pick<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.#random() * items.length)];
  }

  /** Lets every request be answered. */
  async comeToRest(): Promise<void> {
    // What was pressed on a screen begins a moment later.
    await this.#time.pass(50);
    this.#witness.checkStops();
    // Requests of branches that are not shown come a moment after all else is done.
    for (let [round, quiet] = [0, 0]; round < ROUNDS && quiet < 2; round += 1) {
      quiet = this.#isUnderWay ? 0 : quiet + 1;
      await this.finishAll();
      await this.#time.during(this.#passBy());
      await this.#time.pass(20);
    }
    const settling = { isOver: false };
    const over = (): void => {
      settling.isOver = true;
    };
    void Promise.all(this.#pages.map(({ chats }) => chats.whenSettled())).then(over);
    for (let round = 0; round < ROUNDS && !settling.isOver; round += 1) {
      await this.finishAll();
      await this.#time.pass(20);
    }
    // Pages that were open when another one died look for it once in a while.
    for (let pause = 0; pause < 5; pause += 1) await this.#time.pass(500);
  }

  /** Asks questions that wait for a tool call that nobody answers: `stop()` asks them. */
  async #passBy(): Promise<void> {
    for (const { chats, engine } of this.#pages)
      for (const { id } of engine.state.getState().branches) {
        const chat = chats.get(id);
        if (chat && !chat.isBusy && chat.waiting.length > 0) await chat.stop();
      }
  }

  /** Finishes all answers. In real time a page may ask late: it checks every two seconds whether another one died. */
  async finishAll(): Promise<void> {
    for (const exchange of this.#streams()) {
      this.#ended.add(exchange);
      this.#witness.ends(exchange, 'finish');
      await this.#time.during(exchange.finish());
    }
  }

  /** Closes the pages. */
  close(): void {
    for (const page of this.#pages) {
      for (const line of page.notices()) this.#count(`heard: ${line}`);
      this.#witness.buries(page);
      page.kill();
    }
  }

  get #isUnderWay(): boolean {
    const isBusy = this.#pages.some(({ chats, engine }) => {
      const { branches } = engine.state.getState();
      return branches.some(({ id }) => chats.get(id)?.hasWork) || growsIn(engine);
    });
    return isBusy || this.#running.size > 0 || this.#streams().length > 0;
  }

  /** The problems of a run, and before them its log; nothing for a run without problems. */
  async problems(): Promise<string[]> {
    const stored = await allOf(this.#page.store);
    const found = [
      ...this.#found,
      ...this.#witness.found,
      ...this.#witness.left(),
      ...(await this.#hanging()),
      ...(await this.#misplaced(stored)),
      ...(await this.#misshown(stored)),
    ];
    return found.length === 0 ? [] : [...this.#log, ...found];
  }

  /** The acts that have not ended, and what each page is doing. */
  async #hanging(): Promise<string[]> {
    const running = [...this.#running.values()].map(({ what }) => what);
    if (running.length === 0) return [];
    const states = this.#pages.map(async ({ engine, chats, script, store }, i) => {
      const { status, error, saveState, branches } = engine.state.getState();
      const asking = branches.filter(({ id }) => chats.get(id)?.hasWork).map(({ name }) => name);
      const open = script.requests
        .filter(({ isStopped }) => !isStopped)
        .map((one) => noteOf(one)['answerId']);
      const held = [...(await store.held('c'))];
      return `${i}: ${JSON.stringify({ status, error: error?.code, saves: saveState.state, asking, open, held })}`;
    });
    return [`${running.length} promises hang: ${running.join(', ')}`, ...(await Promise.all(states))];
  }

  async #misplaced(stored: readonly MessageNode[]): Promise<string[]> {
    // This page is only asked which answers grow.
    const fresh = await this.#time.during(openPlainly(this.#page.store));
    if (!fresh) return ['A page does not open.'];
    fresh.engine.dispose();
    return [
      ...stored.flatMap((node) => this.#wrongIn(node, stored, fresh)),
      ...this.#unasked(stored),
      ...this.#miscounted(await textsOf(this.#page.store)),
      ...(await this.#unlisted(fresh)),
      ...this.#lost(stored),
      ...this.#unanswered(stored),
    ];
  }

  #wrongIn(node: MessageNode, stored: readonly MessageNode[], fresh: Page): string[] {
    const { id, key, data } = node;
    // Open pages check now and then whether another one died; a new page knows.
    const grows = fresh.engine.status(key) === 'streaming';
    const isTrue = data.role !== 'assistant' || this.#isTrue(node, stored);
    const calls = callsIn(data).filter(({ toolCallId }) => {
      const owner = this.#calls.get(toolCallId);
      return (
        owner !== key && !stored.some((older) => older.key === owner && beginsAs(node, older, toolCallId))
      );
    });
    return [
      ...this.#witness.wrongIn(node),
      ...(grows ? [`${id} still streams`] : []),
      ...(isTrue ? [] : [`${id} says "${spokenIn(data)}", was told "${this.#expected(node)}"`]),
      ...calls.map(({ toolCallId }) => `${toolCallId} is in ${id}, not where it was called`),
    ];
  }

  /** Versions that nobody asked for: another text of a question, or another answer. */
  #unasked(stored: readonly MessageNode[]): string[] {
    const questions = new Set(this.#questions.map(({ text }) => text));
    const phantoms = stored
      .filter(isShown)
      .filter(({ key, data }) =>
        data.role === 'user' ? !questions.has(textOf(data)) : !this.#witness.hasAskedFor(key),
      );
    return phantoms.map(({ id, data }) => `nobody asked for ${id}, "${words([data])}"`);
  }

  /** Questions that a dead page left queued are shown at the end of their branch, on a page that opens. */
  async #unlisted(fresh: Page): Promise<string[]> {
    const left = await leftOn(fresh, fresh.store);
    void fresh.chats.active;
    const saved = words(fresh.engine.state.getState().messages);
    const expected = [saved, ...left].filter(Boolean).join(' | ');
    // A database takes several tasks for each look at what was left.
    for (let looks = 10; looks > 0 && fresh.shown() !== expected; looks -= 1) await this.#time.pass(20);
    return fresh.shown() === expected
      ? []
      : [`a page that opens shows "${fresh.shown()}", not "${expected}"`];
  }

  #miscounted(texts: readonly string[]): string[] {
    return this.#questions.flatMap(({ text, isSure }) => {
      const count = texts.filter((other) => other === text).length;
      return count === 1 || (count === 0 && !isSure) ? [] : [`${text} is there ${count} times`];
    });
  }

  #lost(stored: readonly MessageNode[]): string[] {
    const answers = [...this.#said].filter(
      ([id, said]) => said.some(({ isSure }) => isSure) && !stored.some((node) => node.key === id),
    );
    return answers.map(([id]) => `${id} is lost`);
  }

  /** An accepted result must be saved with its tool call. */
  #unanswered(stored: readonly MessageNode[]): string[] {
    const waiting = stored.flatMap(({ key, data }) =>
      callsIn(data).flatMap((call) => (waits(call) ? keyOf(key, call.toolCallId) : [])),
    );
    const keys = new Set(waiting);
    const ignored = this.#pressed.filter(
      ({ owner, toolCallId, page, told }) =>
        keys.has(keyOf(owner, toolCallId)) &&
        this.#pages.includes(page) &&
        !page
          .notices()
          .slice(told)
          .some((line) => line.startsWith('error')),
    );
    return [
      ...[...keys].flatMap((key) =>
        this.#answered.has(key) || this.#witness.kept.has(key) ? [`the result of ${key} is lost`] : [],
      ),
      ...ignored.map(({ toolCallId }) => `${toolCallId} was answered, and nothing came of it`),
    ];
  }

  async #misshown(stored: readonly MessageNode[]): Promise<string[]> {
    const wrong = await Promise.all(
      this.#pages.map(async (page, i) => [
        ...(await this.#misshownOn(page, i)),
        ...misnumbered(page, stored).map((problem) => `page ${i}: ${problem}`),
      ]),
    );
    return wrong.flat();
  }

  /** The list, the screen, the page's saved messages, and the chain in the store: all must be equal. */
  async #misshownOn({ chats, engine, store, seen }: MortalPage, i: number): Promise<string[]> {
    if (chats.active.isBusy) return [`page ${i} is busy`];
    const { messages, remoteMessages } = engine.state.getState();
    const head = engine.state.getState().headKey;
    const chain = !head ? [] : await store.getMessageChain('c', head, { limit: messages.length });
    const [shown, saved] = [words(chats.active.messages), words(messages)];
    const [screen, stored] = [seen(), words(chain.map(({ data }) => data))];
    // Questions that an earlier page left queued are shown behind it, on pages that were opened since.
    const left = await leftOn({ engine }, store);
    const waiting = chats.active.messages.filter(({ id }) => engine.node(id) === undefined);
    const shownThen = words(chats.active.messages.filter((message) => !waiting.includes(message)));
    const isLeft = waiting.every((message) => left.includes(words([message])));
    return [
      ...(shownThen === saved && isLeft ? [] : [`page ${i} shows "${shown}", saved is "${saved}"`]),
      ...(saved === stored ? [] : [`page ${i} takes "${saved}" for saved, stored is "${stored}"`]),
      ...(shown === screen ? [] : [`page ${i} shows "${shown}", on its screen is "${screen}"`]),
      ...(remoteMessages.length === 0
        ? []
        : [`page ${i} still sees another one write "${words(remoteMessages)}"`]),
    ];
  }

  #doubled(): string[] {
    return this.#pages.flatMap(({ chats }, i) => {
      const ids = chats.active.messages.map(({ id }) => id);
      return new Set(ids).size === ids.length
        ? []
        : [`page ${i} shows a message twice: ${words(chats.active.messages)}`];
    });
  }

  /** Whether an answer has the words that it was told; a continued one begins with those of the earlier answer. */
  #isTrue(node: MessageNode, stored: readonly MessageNode[]): boolean {
    const message = node.data;
    const [spoken, told] = [spokenIn(message), this.#expected(node)];
    const begun = spoken.slice(0, spoken.length - told.length);
    return (
      spoken.endsWith(told) &&
      stored.some(({ data }) => begun === '' || (data !== message && spokenIn(data).startsWith(begun)))
    );
  }

  #expected({ key, data }: MessageNode): string {
    const said = this.#said.get(key) ?? [];
    const text = spokenIn(data);
    return said.flatMap(({ word, isSure }) => (isSure || text.includes(word) ? [word] : [])).join('');
  }
}

/** The questions left queued on the shown branch, or on a deleted one, as words, oldest first. */
async function leftOn({ engine }: Pick<MortalPage, 'engine'>, store: ContextStore): Promise<string[]> {
  const { branches, branchId } = engine.state.getState();
  const isHere = (id: string | undefined): boolean =>
    id === branchId || !branches.some((branch) => branch.id === id);
  const branchOf = (key: string): string | undefined =>
    engine.branchHolding(key) ?? engine.branchHolding(engine.node(key)?.parentKey ?? '');
  const left = (await queued(store)).filter(
    (one) => isHere(branchOf(one.place ?? '')) && !engine.node(one.message.id),
  );
  return left.map(({ message }) => words([message]));
}

/** Whether an answer grows on some branch, or is reserved there and about to be requested. */
function growsIn(engine: ContextEngine): boolean {
  const heads = engine.state.getState().branches.map(({ headMessageId }) => headMessageId ?? '');
  return heads.some((id) => engine.status(id) === 'streaming');
}

/** A reserved answer is no version yet. */
function isShown({ data, status }: MessageNode): boolean {
  return data.parts.length > 0 || status === 'complete';
}

/** Versions of shown messages that their pagers do not know, and those that they know and that do not exist. */
function misnumbered({ engine, chats, pager }: MortalPage, stored: readonly MessageNode[]): string[] {
  return chats.active.messages.flatMap(({ id }) => {
    // Versions may share an id: that on the shown branch is meant.
    const key = engine.node(id)?.key ?? '';
    const node = stored.find((one) => one.key === key);
    // A queued question is no version of anything.
    if (!node) return [];
    const versions = stored
      .filter(isShown)
      .filter(({ parentKey, data }) => parentKey === node.parentKey && data.role === node.data.role);
    const own = versions.map((version) => version.key);
    const { index, keys } = engine.siblings(id);
    const said = pager(id);
    const expected = own.length > 1 ? `${own.indexOf(key) + 1} / ${own.length}` : '';
    return [
      ...(keys.join() === own.join() && keys[index] === key
        ? []
        : [`${id} is shown as version ${index} of ${keys.join()}, stored are ${own.join()}`]),
      ...(said === expected ? [] : [`the pager of ${id} says "${said}", not "${expected}"`]),
    ];
  });
}

/** A word of an answer. */
interface Word {
  readonly word: string;
  isSure: boolean;
}

interface Question {
  readonly text: string;
  readonly page: MortalPage;
  /** Whether it must be there: not if its page died before it was acknowledged. */
  isSure: boolean;
  isSettled: boolean;
}

/** A tool call that was answered by a button. */
interface Pressed {
  /** The answer, of several that have this call, on which it was answered. */
  readonly owner: string;
  readonly toolCallId: string;
  readonly page: MortalPage;
  /** How many callbacks the page had had by then. */
  readonly told: number;
}

/** Whether an answer continued another one with this tool call, as a version of its own. */
function beginsAs(answer: MessageNode, older: MessageNode, toolCallId: string): boolean {
  return (
    older.parentId === answer.parentId && callsIn(older.data).some((call) => call.toolCallId === toolCallId)
  );
}

function spokenIn(message: UIMessage): string {
  return message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** Mulberry32: small, and the same everywhere. */
function randomOf(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

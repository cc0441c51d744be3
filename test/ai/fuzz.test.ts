import type { UIMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { textOf, type MessageNode } from '../../src/graph/graph.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { settle, type Exchange } from '../support/transport.ts';
import { noteOf, openPage, words, type Page } from './story.ts';

/**
 * Somebody who presses every button, on two pages of one chat, in any order and at any moment. Whatever they do: each word is on the node of the
 * answer that said it, each question is there once, what is shown is what is saved, and nothing hangs.
 */
const SEEDS = Number(process.env['FUZZ_SEEDS'] ?? 40);
const ACTS = 40;

describe('a person who presses every button', () => {
  it.each(Array.from({ length: SEEDS }, (_, seed) => seed))('loses no word (%i)', async (seed) => {
    const store = new InMemoryContextStore();
    const run = new Run(seed, [await openPage(store), await openPage(store)]);
    for (let act = 0; act < ACTS; act += 1) await run.act();
    await run.comeToRest();
    expect(await run.problems()).toEqual([]);
  });
});

class Run {
  readonly #pages: readonly Page[];
  /** The one that has the mouse. */
  #page: Page;
  readonly #random: () => number;
  readonly #log: string[] = [];
  /** What each answer was made to say, by its node. A word that was still on its way when it was stopped is unsure. */
  readonly #said: Map<string, { readonly word: string; readonly isSure: boolean }[]> = new Map();
  readonly #questions: string[] = [];
  readonly #running: Set<Promise<unknown>> = new Set();
  readonly #ended: Set<Exchange> = new Set();
  #words = 0;

  constructor(seed: number, pages: readonly [Page, Page]) {
    this.#pages = pages;
    this.#page = pages[0];
    this.#random = randomOf(seed);
  }

  async act(): Promise<void> {
    const acts: readonly (() => unknown)[] = [
      () => this.#send(),
      () => this.#edit(),
      () => this.#again(),
      () => this.#stop(),
      () => this.#goOn(),
      () => this.#move(),
      () => this.#end(),
      ...[1, 2, 3].map(() => () => this.#say()),
    ];
    if (this.#random() < 0.1) this.#page = this.#pick(this.#pages) ?? this.#page;
    await this.#pick(acts)?.();
    for (let pause = Math.floor(this.#random() * 4); pause > 0; pause -= 1) await settle();
  }

  #send(): void {
    const text = this.#question();
    this.#note(`send ${text}`);
    this.#run(this.#page.chats.active.sendMessage({ text }));
  }

  #edit(): void {
    const message = this.#pick(this.#page.chats.active.messages.filter(({ role }) => role === 'user'));
    if (!message || this.#page.engine.status(message.id) === undefined) return;
    const text = this.#question();
    this.#note(`edit ${textOf(message)} to ${text}`);
    this.#run(this.#page.chats.active.sendMessage({ text, messageId: message.id }));
  }

  #again(): void {
    const message = this.#pick(this.#page.chats.active.messages);
    if (!message || this.#page.engine.status(message.id) === undefined) return;
    this.#note(`again ${textOf(message)}`);
    this.#run(this.#page.chats.active.regenerate({ messageId: message.id }));
  }

  #stop(): void {
    this.#note('stop');
    this.#run(this.#page.chats.active.stop());
  }

  #goOn(): void {
    const last = this.#page.chats.active.messages.at(-1);
    if (last?.role !== 'assistant') return;
    this.#note(`go on ${textOf(last)}`);
    this.#run(this.#page.chats.active.sendMessage());
  }

  #move(): void {
    const { engine } = this.#page;
    const branch = this.#pick(engine.state.getState().branches);
    const message = this.#pick(engine.state.getState().messages);
    if (!branch || !message) return;
    const move = this.#pick(['switch', 'rewind', 'checkout', 'btw'] as const);
    this.#note(`${move} ${move === 'switch' ? branch.name : textOf(message)}`);
    if (move === 'switch') this.#run(engine.switchBranch(branch.id));
    if (move === 'rewind') this.#run(engine.rewind(message.id));
    if (move === 'checkout') this.#run(engine.checkout(message.id));
    if (move === 'btw') this.#run(engine.btw().catch(() => {}));
  }

  async #say(): Promise<void> {
    const exchange = this.#pick(this.#open());
    if (!exchange) return;
    const word = `w${(this.#words += 1)} `;
    const id = String(noteOf(exchange)['answerId']);
    this.#note(`say ${word}to ${id.slice(0, 4)}`);
    await exchange.say(word);
    this.#said.set(id, [...(this.#said.get(id) ?? []), { word, isSure: !exchange.isStopped }]);
  }

  async #end(): Promise<void> {
    const exchange = this.#pick(this.#open());
    if (!exchange) return;
    this.#ended.add(exchange);
    const end = this.#pick(['finish', 'finish', 'fail', 'break', 'drop'] as const) ?? 'finish';
    this.#note(`${end} ${String(noteOf(exchange)['answerId']).slice(0, 4)}`);
    if (end === 'fail') await exchange.fail('overloaded');
    else await exchange[end]();
  }

  #open(): Exchange[] {
    return this.#pages
      .flatMap(({ script }) => script.requests)
      .filter((exchange) => !exchange.isStopped && !this.#ended.has(exchange));
  }

  #question(): string {
    const text = `q${this.#questions.length}`;
    this.#questions.push(text);
    return text;
  }

  #run(action: Promise<unknown>): void {
    const label = this.#log.at(-1);
    void action.then(
      () => this.#note('done: ' + label),
      () => {},
    );
    const running = action.catch((error: unknown) => this.#note(`refused: ${String(error)}`));
    this.#running.add(running);
    void running.then(() => this.#running.delete(running));
  }

  #note(line: string): void {
    this.#log.push(`${this.#pages.indexOf(this.#page)}: ${line}`);
  }

  #pick<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.#random() * items.length)];
  }

  /** Lets everything that is asked for be answered. */
  async comeToRest(): Promise<void> {
    for (let round = 0; round < 400 && (this.#running.size > 0 || this.#open().length > 0); round += 1) {
      for (const exchange of this.#open()) {
        this.#ended.add(exchange);
        await exchange.finish();
      }
      await settle();
    }
    for (const { chats } of this.#pages) await chats.whenSettled();
    for (let pause = 0; pause < 5; pause += 1) await settle();
  }

  /** What went wrong, and before it all that was done; nothing for a run in which nothing did. */
  async problems(): Promise<string[]> {
    const found = [...this.#hanging(), ...(await this.#misplaced()), ...this.#misshown()];
    return found.length === 0 ? [] : [...this.#log, ...found];
  }

  #hanging(): string[] {
    return this.#running.size === 0 ? [] : [`${this.#running.size} promises hang`];
  }

  async #misplaced(): Promise<string[]> {
    const { store } = this.#page;
    const { nodes } = await store.load('c');
    const stored = await store.getNodes(
      'c',
      nodes.map(({ id }) => id),
    );
    const wrong = stored.flatMap(({ id, data, status }) => [
      ...(status === 'streaming' ? [`${id} still streams`] : []),
      ...(data.role === 'assistant' && !this.#isTrue(data, stored)
        ? [`${id} says "${spokenIn(data)}", was told "${this.#expected(data)}"`]
        : []),
    ]);
    const texts = stored.map(({ data }) => textOf(data));
    const questions = this.#questions.filter(
      (question) => texts.filter((text) => text === question).length !== 1,
    );
    const answers = [...this.#said].filter(
      ([id, said]) => said.some(({ isSure }) => isSure) && !stored.some((node) => node.id === id),
    );
    return [
      ...wrong,
      ...questions.map(
        (question) => `${question} is there ${texts.filter((text) => text === question).length} times`,
      ),
      ...answers.map(([id]) => `${id} is lost`),
    ];
  }

  #misshown(): string[] {
    return this.#pages.flatMap(({ chats, engine }, i) => {
      const shown = words(chats.active.messages);
      const saved = words(engine.state.getState().messages);
      if (chats.active.isBusy) return [`page ${i} is busy`];
      return shown === saved ? [] : [`page ${i} shows "${shown}", saved is "${saved}"`];
    });
  }

  /** Whether an answer says what it was told; one that goes on from an older one begins with that one's words. */
  #isTrue(message: UIMessage, stored: readonly MessageNode[]): boolean {
    const [spoken, told] = [spokenIn(message), this.#expected(message)];
    const begun = spoken.slice(0, spoken.length - told.length);
    return (
      spoken.endsWith(told) &&
      stored.some(({ data }) => begun === '' || (data !== message && spokenIn(data).startsWith(begun)))
    );
  }

  #expected(message: UIMessage): string {
    const said = this.#said.get(message.id) ?? [];
    const text = spokenIn(message);
    return said.flatMap(({ word, isSure }) => (isSure || text.includes(word) ? [word] : [])).join('');
  }
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

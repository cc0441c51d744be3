/**
 * Exact counts without blocking the page: in a Worker, which starts with the first question and is let go when none has come
 * for a while. Where there is none (CSP, a misplaced file), the page counts for itself, a few milliseconds at a time when it is
 * idle.
 */
import { ContextError } from '../errors.ts';
import type { BatchTokenizer } from '../tokens/count.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import type { Answered, Asked } from './thread.ts';

/**
 * Counts tokens exactly, off the page's thread. Ask for many texts at once: a question is one message.
 *
 * `count` rejects with `invalid-options` where gpt-tokenizer can't be loaded, with `aborted` after `dispose`, which ends
 * the Worker.
 */
export type WorkerTokenizer = BatchTokenizer;

/** How a Worker is kept. */
export interface WorkerTokenizerOptions {
  /** Milliseconds without a question after which the Worker is let go; the next one starts it again. Default: 30,000. */
  readonly idle?: number;
}

/** A tokenizer that asks the Worker which `start` makes, and counts with what `load` loads where that fails. */
export function workerTokenizer(
  name: string,
  start: () => Worker,
  load: () => Promise<Tokenizer>,
  { idle = 30_000 }: WorkerTokenizerOptions = {},
): WorkerTokenizer {
  return new Counter(name, start, load, idle);
}

interface Question {
  readonly texts: readonly string[];
  readonly resolve: (counts: readonly number[]) => void;
  readonly reject: (reason: unknown) => void;
}

class Counter implements WorkerTokenizer {
  readonly name: string;
  readonly exact = true;
  readonly #start: () => Worker;
  readonly #load: () => Promise<Tokenizer>;
  readonly #idle: number;
  readonly #open = new Map<number, Question>();
  #worker: Worker | undefined;
  #isRefused = false;
  #isDisposed = false;
  #asked = 0;
  #rest: ReturnType<typeof setTimeout> | undefined;

  constructor(name: string, start: () => Worker, load: () => Promise<Tokenizer>, idle: number) {
    this.name = name;
    this.#start = start;
    this.#load = load;
    this.#idle = idle;
  }

  count(texts: readonly string[]): Promise<readonly number[]> {
    return new Promise((resolve, reject) => {
      if (this.#isDisposed) reject(disposed(this.name));
      else this.#ask({ texts, resolve, reject });
    });
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#release();
    for (const { reject } of this.#taken()) reject(disposed(this.name));
  }

  #ask(question: Question): void {
    const worker = this.#hired();
    if (!worker) return void this.#countHere(question);
    clearTimeout(this.#rest);
    const asked: Asked = { id: ++this.#asked, texts: question.texts };
    this.#open.set(asked.id, question);
    worker.postMessage(asked, []);
  }

  #hired(): Worker | undefined {
    if (this.#worker || this.#isRefused) return this.#worker;
    try {
      this.#worker = this.#start();
      this.#worker.addEventListener('message', ({ data }: MessageEvent<Answered>) => this.#answer(data));
      this.#worker.addEventListener('error', () => this.#refuse());
    } catch {
      this.#isRefused = true;
    }
    return this.#worker;
  }

  #answer({ id, counts }: Answered): void {
    this.#open.get(id)?.resolve(counts);
    this.#open.delete(id);
    if (this.#open.size === 0) this.#rest = setTimeout(() => this.#release(), this.#idle);
  }

  #refuse(): void {
    this.#isRefused = true;
    this.#release();
    for (const question of this.#taken()) void this.#countHere(question);
  }

  #release(): void {
    clearTimeout(this.#rest);
    this.#worker?.terminate();
    this.#worker = undefined;
  }

  #taken(): readonly Question[] {
    const questions = [...this.#open.values()];
    this.#open.clear();
    return questions;
  }

  async #countHere({ texts, resolve, reject }: Question): Promise<void> {
    try {
      resolve(await countIdly(texts, await this.#load(), () => this.#isDisposed));
    } catch (reason) {
      reject(this.#isDisposed ? disposed(this.name) : reason);
    }
  }
}

function disposed(name: string): ContextError {
  return new ContextError('aborted', `The ${name} tokenizer was disposed: create another one.`);
}

/** Milliseconds of counting after which the page gets its turn. */
const SLICE = 8;

async function countIdly(
  texts: readonly string[],
  tokenizer: Tokenizer,
  isOver: () => boolean,
): Promise<readonly number[]> {
  const counts: number[] = [];
  let until = 0;
  for (const text of texts) {
    let tokens = 0;
    for (const passage of passages(text)) {
      if (performance.now() >= until) {
        await idleMoment();
        if (isOver()) throw new Error('disposed meanwhile');
        until = performance.now() + SLICE;
      }
      tokens += tokenizer.count(passage);
    }
    counts.push(tokens);
  }
  return counts;
}

function idleMoment(): Promise<unknown> {
  return new Promise((resolve) => {
    // Safari has none yet.
    if (typeof requestIdleCallback === 'function') requestIdleCallback(resolve, { timeout: 500 });
    else setTimeout(resolve);
  });
}

/** Characters of a text that are counted in one go. */
const PASSAGE = 16_384;

/** A long text in pieces whose tokens add up to its own: no token reaches from a line's end into a word or number. */
function* passages(text: string): Iterable<string> {
  const cut = /\n(?=[\p{L}\p{N}])/gu;
  for (let from = 0; from < text.length;) {
    cut.lastIndex = from + PASSAGE;
    const end = cut.exec(text);
    const to = end ? end.index + 1 : text.length;
    yield text.slice(from, to);
    from = to;
  }
}

/**
 * Exact counts without blocking the page: in a Worker, which starts with the first question and is let go when none has come
 * for a while. Where there is none (CSP, a misplaced file), the page counts for itself, a few milliseconds at a time.
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
  const open = new Map<number, (counts?: readonly number[]) => void>();
  let worker: Worker | undefined;
  let [isRefused, isDisposed, lastId] = [false, false, 0];
  let rest: ReturnType<typeof setTimeout> | undefined;
  const expectUse = (): void => {
    if (isDisposed)
      throw new ContextError('aborted', `The ${name} tokenizer was disposed: create another one.`);
  };

  /** Lets the Worker go, without an answer to what it was asked. */
  const release = (): void => {
    clearTimeout(rest);
    worker?.terminate();
    worker = undefined;
    for (const answer of open.values()) answer();
    open.clear();
  };

  const hired = (): Worker | undefined => {
    if (worker || isRefused) return worker;
    try {
      worker = start();
    } catch {
      isRefused = true;
    }
    worker?.addEventListener('message', ({ data: { id, counts } }: MessageEvent<Answered>) => {
      open.get(id)?.(counts);
      open.delete(id);
      if (open.size === 0) rest = setTimeout(release, idle);
    });
    worker?.addEventListener('error', () => {
      isRefused = true;
      release();
    });
    return worker;
  };

  /** The Worker's counts; undefined where there is none, or it was let go. */
  const ask = (texts: readonly string[]): Promise<readonly number[] | undefined> =>
    new Promise((resolve) => {
      const asked = hired();
      if (!asked) return resolve(undefined);
      clearTimeout(rest);
      lastId += 1;
      open.set(lastId, resolve);
      const message: Asked = { id: lastId, texts };
      return asked.postMessage(message, []);
    });

  return {
    name,
    exact: true,
    count: async (texts) => {
      expectUse();
      const counts = await ask(texts);
      if (counts) return counts;
      expectUse();
      return countInSlices(texts, await load().finally(expectUse), expectUse);
    },
    dispose: () => {
      isDisposed = true;
      release();
    },
  };
}

/** Milliseconds of counting after which the page gets its turn. */
const SLICE = 8;

async function countInSlices(texts: readonly string[], tokenizer: Tokenizer, expectUse: () => void) {
  const counts: number[] = [];
  let until = 0;
  for (const text of texts) {
    let tokens = 0;
    for (const passage of passages(text)) {
      if (performance.now() >= until) {
        await new Promise((resolve) => void setTimeout(resolve));
        expectUse();
        until = performance.now() + SLICE;
      }
      tokens += tokenizer.count(passage);
    }
    counts.push(tokens);
  }
  return counts;
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

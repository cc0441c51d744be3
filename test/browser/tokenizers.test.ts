import { afterEach, describe, expect, test, vi } from 'vitest';
import { createWorkerTokenizer } from '../../src/tokenizers/o200k-worker.ts';
import { loadTokenizer } from '../../src/tokenizers/o200k.ts';
import { workerTokenizer, type WorkerTokenizer } from '../../src/tokenizers/workerTokenizer.ts';
import type { Tokenizer } from '../../src/tokens/tokenizer.ts';

// Exact counts in a real Worker, and what becomes of them where a page has none.

const texts = ['Hello, world!', '', 'Donaudampfschifffahrtsgesellschaft', '<|endoftext|>', '你好，世界 🎉'];
const mine: WorkerTokenizer[] = [];
const kept = (tokenizer: WorkerTokenizer): WorkerTokenizer => {
  mine.push(tokenizer);
  return tokenizer;
};

afterEach(() => {
  for (const tokenizer of mine.splice(0)) tokenizer.dispose();
  vi.unstubAllGlobals();
});

async function exactly(questions: readonly string[]): Promise<readonly number[]> {
  const { count } = (await loadTokenizer()) as { count: (text: string) => number };
  return questions.map((text) => count(text));
}

/** Counts the Workers that are started, what they answer, and those that are let go. */
function watchWorkers(): { started: number; answers: number; ended: number } {
  const seen = { started: 0, answers: 0, ended: 0 };
  const Real = Worker;
  vi.stubGlobal(
    'Worker',
    class extends Real {
      constructor(url: string | URL, options?: WorkerOptions) {
        super(url, options);
        seen.started += 1;
        this.addEventListener('message', () => (seen.answers += 1));
      }
      override terminate(): void {
        seen.ended += 1;
        super.terminate();
      }
    },
  );
  return seen;
}

describe('a tokenizer in a Worker', () => {
  test('counts as its encoding does, and one Worker answers all', async () => {
    const workers = watchWorkers();
    const tokenizer = kept(createWorkerTokenizer());
    expect(tokenizer).toMatchObject({ name: 'o200k', exact: true });
    expect(await tokenizer.count(texts)).toEqual(await exactly(texts));
    expect(await Promise.all([tokenizer.count(['a b c']), tokenizer.count([])])).toEqual([[3], []]);
    expect(workers).toEqual({ started: 1, answers: 3, ended: 0 });
  });

  test('starts it with the first question, lets it go when none comes, and starts it again', async () => {
    const workers = watchWorkers();
    // A Worker without a table, which takes a second to load.
    const code =
      'onmessage = ({ data: { id, texts } }) => postMessage({ id, counts: texts.map((text) => text.length) })';
    const start = (): Worker => new Worker(URL.createObjectURL(new Blob([code])));
    const tokenizer = kept(workerTokenizer('o200k', start, loadTokenizer, { idle: 20 }));
    expect(workers.started).toBe(0);
    expect(await tokenizer.count(['one'])).toEqual([3]);
    await vi.waitFor(() => expect(workers.ended).toBe(1));
    expect(await tokenizer.count(['three'])).toEqual([5]);
    expect(workers.started).toBe(2);
  });

  test('leaves no question open when it is disposed', async () => {
    const tokenizer = createWorkerTokenizer();
    const open = tokenizer.count(texts);
    tokenizer.dispose();
    await expect(open).rejects.toMatchObject({ code: 'aborted' });
    await expect(tokenizer.count(texts)).rejects.toMatchObject({ code: 'aborted' });
  });
});

/** A page with a strict policy, inside this one. */
function withoutWorkers(): typeof globalThis {
  const frame = document.createElement('iframe');
  frame.srcdoc = `<meta http-equiv="Content-Security-Policy" content="worker-src 'none'">`;
  document.body.append(frame);
  frame.contentDocument!.open();
  frame.contentDocument!.write(frame.srcdoc);
  frame.contentDocument!.close();
  return frame.contentWindow as unknown as typeof globalThis;
}

describe('where a page can have no Worker', () => {
  const refusals: [string, () => Worker][] = [
    ['its file is not there', () => new Worker('/no/such/file.js', { type: 'module' })],
    [
      'it breaks at its start',
      () => new Worker(URL.createObjectURL(new Blob(['throw new Error("broken")'])), { type: 'module' }),
    ],
    ['its policy forbids Workers', () => new (withoutWorkers().Worker)(URL.createObjectURL(new Blob(['0'])))],
    [
      'the browser refuses at once',
      () => {
        throw new DOMException('refused', 'SecurityError');
      },
    ],
  ];

  test.each(refusals)('counts as exactly by itself: %s', async (_, start) => {
    const tokenizer = kept(workerTokenizer('o200k', start, loadTokenizer));
    expect(await tokenizer.count(texts)).toEqual(await exactly(texts));
    expect(await tokenizer.count(['again'])).toEqual([1]);
  });

  test('lets the page move on while it counts, and cuts long texts where no token is', async () => {
    const line =
      'The lane layout keeps 1,204 rows; "Straße" and 你好 too.\n  indented\n/slash\n3 words here\n\n';
    const long = line.repeat(3000);
    const tokenizer = kept(workerTokenizer('o200k', refusals.at(-1)![1], loadTokenizer));
    const expected = await exactly([long]);
    // Each passage takes longer than its slice, as on a slow machine.
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 10));
    let turns = 0;
    const ticking = setInterval(() => (turns += 1), 1);
    expect(await tokenizer.count([long])).toEqual(expected);
    clearInterval(ticking);
    vi.restoreAllMocks();
    expect(turns).toBeGreaterThan(10);
  });

  test('tells why where the table can not be had either', async () => {
    const none = (): Promise<Tokenizer> => Promise.reject(new Error('no table'));
    const tokenizer = kept(workerTokenizer('o200k', refusals.at(-1)![1], none));
    await expect(tokenizer.count(['a'])).rejects.toThrow('no table');
  });

  test('stops counting when it is disposed', async () => {
    const tokenizer = workerTokenizer('o200k', refusals.at(-1)![1], loadTokenizer);
    const open = tokenizer.count(Array.from({ length: 1000 }, () => 'a few words and more '.repeat(1000)));
    await new Promise((resolve) => setTimeout(resolve, 30));
    tokenizer.dispose();
    await expect(open).rejects.toMatchObject({ code: 'aborted' });
  });
});

import { loadTokenizer } from './o200k.ts';
import { workerTokenizer, type WorkerTokenizer, type WorkerTokenizerOptions } from './workerTokenizer.ts';

export type { WorkerTokenizer, WorkerTokenizerOptions } from './workerTokenizer.ts';

/**
 * Counts tokens in o200k_base (GPT-4o and later), exactly, in a Worker that the first question starts. Needs the optional
 * package gpt-tokenizer. Bundlers that know `new Worker(new URL(...))`, such as Vite and webpack 5, bundle the Worker;
 * with others the page counts, a few milliseconds at a time.
 *
 *     const tokenizer = createWorkerTokenizer();
 *     const [first, second] = await tokenizer.count(['Hello, world!', systemPrompt]);
 *     tokenizer.dispose();
 */
export function createWorkerTokenizer(options?: WorkerTokenizerOptions): WorkerTokenizer {
  return workerTokenizer('o200k', start, loadTokenizer, options);
}

// Written so that bundlers see a Worker in it.
function start(): Worker {
  return new Worker(new URL('./o200k.worker.ts', import.meta.url), {
    type: 'module',
    name: 'contextree-o200k',
  });
}

import { loadTokenizer } from './cl100k.ts';
import { workerTokenizer, type WorkerTokenizer, type WorkerTokenizerOptions } from './workerTokenizer.ts';

export type { WorkerTokenizer, WorkerTokenizerOptions } from './workerTokenizer.ts';

/**
 * Counts tokens in cl100k_base (GPT-4, GPT-3.5), exactly, in a Worker that the first question starts. Needs the optional
 * package gpt-tokenizer. Bundlers that know `new Worker(new URL(...))`, such as Vite and webpack 5, bundle the Worker;
 * with others the page counts, in idle moments.
 *
 *     const tokenizer = createWorkerTokenizer();
 *     const [first, second] = await tokenizer.count(['Hello, world!', systemPrompt]);
 *     tokenizer.dispose();
 */
export function createWorkerTokenizer(options?: WorkerTokenizerOptions): WorkerTokenizer {
  return workerTokenizer('cl100k', start, loadTokenizer, options);
}

// Written so that bundlers see a Worker in it.
function start(): Worker {
  return new Worker(new URL('./cl100k.worker.ts', import.meta.url), {
    type: 'module',
    name: 'contextree-cl100k',
  });
}

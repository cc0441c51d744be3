import { loadTokenizer } from './o200k.ts';
import { workerTokenizer, type WorkerTokenizer, type WorkerTokenizerOptions } from './workerTokenizer.ts';

export type { WorkerTokenizer, WorkerTokenizerOptions } from './workerTokenizer.ts';

/** Counts tokens in o200k_base (GPT-4o and later), exactly, in a Worker that is started by the first question. Needs gpt-tokenizer. */
export function createWorkerTokenizer(options?: WorkerTokenizerOptions): WorkerTokenizer {
  return workerTokenizer('o200k', start, loadTokenizer, options);
}

// Written so that bundlers see a Worker in it.
function start(): Worker {
  return new Worker(new URL('./o200k.worker.ts', import.meta.url), {
    type: 'module',
    name: 'contextree o200k',
  });
}

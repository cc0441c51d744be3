import { loadTokenizer } from './cl100k.ts';
import { workerTokenizer, type WorkerTokenizer, type WorkerTokenizerOptions } from './workerTokenizer.ts';

export type { WorkerTokenizer, WorkerTokenizerOptions } from './workerTokenizer.ts';

/** As `contextree/tokenizers/o200k-worker`, in cl100k_base (GPT-4, GPT-3.5). */
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

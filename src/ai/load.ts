import { refuseToLoad } from '../errors.ts';
import type * as More from './more.ts';
import type * as Request from './request.ts';

/** The code that saves turns: loaded while the person reads, after the page has opened. */
export const loadTurns: () => Promise<typeof Request> = lazily(() => import('./request.ts'));

/** The code for what may follow an answer: edits, regenerations, tool results, the queue, and taking up answers. */
export const loadMore: () => Promise<typeof More> = lazily(() => import('./more.ts'));

/**
 * Code that is loaded on first use, once for the page; after a failure the next call tries again. Rejects with
 * `store-unavailable`.
 */
export function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      return refuseToLoad(error);
    }));
}

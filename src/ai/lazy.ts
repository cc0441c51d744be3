import { refuseToLoad } from '../errors.ts';

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

import { refuseToLoad } from '../errors.ts';

/** Code that is loaded on first use. */
export interface Lazy<T> {
  /** Loads the code once for the page; after a failure the next call tries again. Rejects with `store-unavailable`. */
  (): Promise<T>;
  /** The code, once it is loaded. */
  now?: T;
}

export function lazily<T>(load: () => Promise<T>): Lazy<T> {
  let loading: Promise<T> | undefined;
  const lazy: Lazy<T> = () =>
    (loading ??= load().then(
      (code) => (lazy.now = code),
      (error: unknown) => {
        loading = undefined;
        return refuseToLoad(error);
      },
    ));
  return lazy;
}

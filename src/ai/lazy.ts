import { refuseToLoad } from '../errors.ts';

/** Code that comes when it is asked for. */
export interface Lazy<T> {
  /** Loads it once for the page; where it could not be loaded, it is asked for again. Rejects with `store-unavailable`. */
  (): Promise<T>;
  /** Undefined until it has come. */
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

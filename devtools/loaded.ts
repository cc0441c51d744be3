import { errorOf } from './reason.ts';
import { useEffect, useState } from 'react';

/** Loaded code, or the reason why it could not be loaded; empty until then. */
export interface Loaded<T> {
  readonly value?: T;
  readonly error?: Error;
}

/** Code that is loaded when it is first needed; after a failure the next mount tries again. */
export function useLoaded<T>(load: () => Promise<T>, isWanted: boolean): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({});
  const isMissing = isWanted && loaded.value === undefined && loaded.error === undefined;
  useEffect(() => {
    if (!isMissing) return undefined;
    let isCurrent = true;
    load().then(
      (value) => isCurrent && setLoaded({ value }),
      (error: unknown) => isCurrent && setLoaded({ error: errorOf(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [load, isMissing]);
  return loaded;
}

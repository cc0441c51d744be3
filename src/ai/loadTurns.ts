import { refuseToLoad } from '../errors.ts';
import type * as Turns from './turns.ts';

let loading: Promise<typeof Turns> | undefined;
let loaded: typeof Turns | undefined;

/** The code that keeps what is said. Once for the page; one that could not be loaded is asked for again. */
export async function loadTurns(): Promise<typeof Turns> {
  loading ??= import('./turns.ts').catch((error: unknown) => {
    loading = undefined;
    return refuseToLoad(error);
  });
  return (loaded = await loading);
}

/** The same; undefined where it could not be loaded: that is told with the next request. */
export function knownTurns(): Promise<typeof Turns | undefined> {
  return loadTurns().catch(() => undefined);
}

/** An error in words. Before anything could be asked for, it can only be one of our own. */
export function inWords(error: Error): Error {
  return loaded?.saidOf(error) ?? error;
}

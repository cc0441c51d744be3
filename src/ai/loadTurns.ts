import { refuseToLoad } from '../errors.ts';
import type * as Turns from './turns.ts';

let loading: Promise<typeof Turns> | undefined;

/** The code that keeps what is said. Once for the page; one that could not be loaded is asked for again. */
export function loadTurns(): Promise<typeof Turns> {
  loading ??= import('./turns.ts').catch((error: unknown) => {
    loading = undefined;
    return refuseToLoad(error);
  });
  return loading;
}

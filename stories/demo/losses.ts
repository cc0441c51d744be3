import type { IndexedDBOptions } from 'contextree';
import { counted } from './quantities.ts';

type Loss = Parameters<NonNullable<IndexedDBOptions['onDataLoss']>>[0];

/** Reports of lost data, on their way to the person. A store may report before anything is shown. */
export interface Losses {
  readonly tell: (loss: Loss) => void;
  /** Calls the listener once for each loss, with words for the person. Returns a function that stops. */
  readonly follow: (listener: (words: string) => void) => () => void;
}

/** No losses, so far. */
export function createLosses(): Losses {
  const untold: Loss[] = [];
  const listeners = new Set<(words: string) => void>();
  const pass = (): void => {
    if (listeners.size === 0) return;
    for (const loss of untold.splice(0)) for (const listener of listeners) listener(wordsFor(loss));
  };
  return {
    tell: (loss) => {
      untold.push(loss);
      pass();
    },
    follow: (listener) => {
      listeners.add(listener);
      pass();
      return () => listeners.delete(listener);
    },
  };
}

function wordsFor(loss: Loss): string {
  return `This browser lost ${whatOf(loss)}. A chat that is still open in a tab is saved again with its next message.`;
}

function whatOf({ kind, chats, messages, lastSaved }: Loss): string {
  if (kind === 'latest') return 'the last changes to your chats';
  if (chats === undefined || messages === undefined) return 'your chats';
  const when = lastSaved === undefined ? '' : `, last saved ${new Date(lastSaved).toLocaleString()}`;
  return `${counted(chats, messages)}${when}`;
}

import type { IndexedDBOptions } from 'contextree';
import { counted } from './quantities.ts';

type Loss = Parameters<NonNullable<IndexedDBOptions['onDataLoss']>>[0];

/** What the browser lost of a store, on its way to a person. A store may tell before anything is shown. */
export interface Losses {
  readonly tell: (loss: Loss) => void;
  /** Hears of each loss once, in words. Returns the way to stop. */
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

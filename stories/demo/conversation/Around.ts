import { createContext } from 'react';
import type { TurnState } from './useTurn.ts';

/** What a message may ask of the conversation around it. Stable for as long as a branch is shown. */
export interface Surroundings extends Pick<TurnState, 'goOn' | 'approve'> {
  /** Goes on with an answer once it ends the branch: with one that is being brought to the end. */
  readonly goOnFrom: (messageId: string) => void;
  /** Whether anything can still be said and changed: a chat that was deleted can only be read. */
  readonly canChange: boolean;
  /** Opens the list of checkpoints on one of them. */
  readonly showCheckpoint: (name: string) => void;
  /** Back to the composer, when the place that had the focus goes away. */
  readonly focusComposer: () => void;
}

/** The conversation around a message. */
export const Around = createContext<Surroundings>({
  goOn: () => {},
  goOnFrom: () => {},
  canChange: true,
  approve: () => {},
  showCheckpoint: () => {},
  focusComposer: () => {},
});

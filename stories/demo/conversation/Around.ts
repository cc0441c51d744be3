import { createContext } from 'react';
import type { TurnState } from './useTurn.ts';

/** What a message needs from its conversation. Stable as long as a branch is shown. */
export interface Surroundings extends Pick<TurnState, 'goOn' | 'approve'> {
  /** Continues an answer once the branch ends with it. */
  readonly goOnFrom: (messageId: string) => void;
  /** Whether the chat can be changed: a deleted chat can only be read. */
  readonly canChange: boolean;
  /** Opens the list of checkpoints on one of them. */
  readonly showCheckpoint: (name: string) => void;
  /** Focuses the composer, when the focused control is removed. */
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

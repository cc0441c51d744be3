import { createContext } from 'react';
import type { TurnState } from './useTurn.ts';

/** What a message may ask of the conversation around it. Stable for as long as a branch is shown. */
export interface Surroundings extends Pick<TurnState, 'goOn' | 'approve'> {
  /** Back to the composer, when the place that had the focus goes away. */
  readonly focusComposer: () => void;
}

/** The conversation around a message. */
export const Around = createContext<Surroundings>({
  goOn: () => {},
  approve: () => {},
  focusComposer: () => {},
});

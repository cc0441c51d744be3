import { createContext } from 'react';

/** What a message may ask of the conversation around it. The functions are stable for as long as a branch is shown. */
export interface TurnActions {
  /** Goes on with the interrupted answer at the end of the branch. */
  readonly goOn: () => void;
  /** Answers a tool that asked for permission. */
  readonly approve: (approvalId: string, approved: boolean) => void;
  /** Back to the composer, when the place that had the focus goes away. */
  readonly focusComposer: () => void;
}

/** The conversation around a message. */
export const Turn = createContext<TurnActions>({
  goOn: () => {},
  approve: () => {},
  focusComposer: () => {},
});

import type { RowState } from './rowState.ts';

/** The filters of a search; '' for any. */
export interface Wanted {
  readonly text: string;
  /** `user`, `assistant` or `system`. */
  readonly role: string;
  readonly state: RowState | '';
  /** The id of a branch that holds the message. */
  readonly branch: string;
  /** The name of a tool that the message calls. */
  readonly tool: string;
  /** The model that answered. */
  readonly model: string;
}

/** No filter. */
export const ANYTHING: Wanted = { text: '', role: '', state: '', branch: '', tool: '', model: '' };

/** Whether everything is wanted. */
export function isAnything(wanted: Wanted): boolean {
  return Object.values(wanted).every((value: string) => value.trim() === '');
}

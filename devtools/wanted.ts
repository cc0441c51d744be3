import type { RowState } from './rowState.ts';

/** What a person looks for in a chat; '' for anything. */
export interface Wanted {
  readonly text: string;
  /** `user`, `assistant` or `system`. */
  readonly role: string;
  readonly state: RowState | '';
  /** The id of a branch that holds it. */
  readonly branch: string;
  /** The name of a tool that it calls. */
  readonly tool: string;
  /** The model that answered. */
  readonly model: string;
}

/** Nothing in particular. */
export const ANYTHING: Wanted = { text: '', role: '', state: '', branch: '', tool: '', model: '' };

/** Whether everything is wanted. */
export function isAnything(wanted: Wanted): boolean {
  return Object.values(wanted).every((value: string) => value.trim() === '');
}

import type { UIMessage } from 'ai';
import { sameContent } from '../engine/same.ts';
import { hasWords } from './prompt.ts';

/**
 * What a list of messages asks for.
 *
 * A chat says what it wants by its list. A new question at the end: ask it. The list cut back to an older question:
 * ask that again. Another text where one stood: a new version. Cut, replaced, filled up by the app itself: likewise.
 * There is no need to know which verb was used. What the list has in common with what is saved is kept; what follows
 * is written; and the rest of what is saved stays where it is, on its branch.
 */
export interface TurnPlan<M extends UIMessage> {
  /** The messages that are saved as they stand here. */
  readonly kept: readonly M[];
  /** The messages to write after them, oldest first; none when something saved is asked again. */
  readonly fresh: readonly M[];
  /** The answer that goes on; undefined when a new one begins. */
  readonly answer: M | undefined;
  /** Whether that answer goes on in its place: it is saved there, and the list leaves nothing out that follows it. */
  readonly inPlace: boolean;
}

/**
 * Compares a list with what is saved of the branch. `messageId` is the one that the request names; where that is an
 * answer, that answer goes on, and a last message that is an answer does so too.
 */
export function planTurn<M extends UIMessage>(
  list: readonly M[],
  saved: readonly M[],
  messageId?: string,
): TurnPlan<M> {
  const spoken = list.filter((message) => message.role !== 'assistant' || hasWords(message));
  const at = answerIndex(spoken, messageId);
  const end = at === -1 ? spoken.length : at;
  const shared = sharedLength(spoken, saved, end);
  const answer = spoken[end];
  const isThere = shared === end && answer !== undefined && saved[end]?.id === answer.id;
  return {
    kept: spoken.slice(0, shared),
    fresh: spoken.slice(shared, end),
    answer,
    inPlace: isThere && spoken.length >= saved.length,
  };
}

function answerIndex(list: readonly UIMessage[], messageId: string | undefined): number {
  const named = list.findIndex(({ id, role }) => id === messageId && role === 'assistant');
  if (named !== -1) return named;
  return list.at(-1)?.role === 'assistant' ? list.length - 1 : -1;
}

function sharedLength(list: readonly UIMessage[], saved: readonly UIMessage[], end: number): number {
  let shared = 0;
  while (shared < end && isSame(list[shared], saved[shared])) shared += 1;
  return shared;
}

function isSame(message: UIMessage | undefined, saved: UIMessage | undefined): boolean {
  if (message === saved) return message !== undefined;
  return message !== undefined && message.id === saved?.id && sameContent(saved, message);
}

import type { UIMessage } from 'ai';
import { hasWords } from './sendable.ts';

/**
 * What a list of messages asks for.
 *
 * A chat says what it wants by its list. A new question at the end: ask it. The list cut back to an older question:
 * ask that again. Another text where one stood: a new version. Cut, replaced, filled up by the app itself: likewise.
 * There is no need to know which verb was used. What the list has in common with what is saved is kept, on whichever
 * branch it is; what follows is written; and everything else that is saved stays where it is.
 */
export interface TurnPlan<M extends UIMessage> {
  /** The messages that are saved as they stand here. */
  readonly kept: readonly M[];
  /** The messages to write after them, oldest first; none when something saved is asked again. */
  readonly fresh: readonly M[];
  /** The answer that goes on; undefined when a new one begins. */
  readonly answer: M | undefined;
  /** Whether that answer goes on in its place: it is saved there, and nothing that follows it is left out. */
  readonly inPlace: boolean;
  /** Whether it goes on as a version of what is saved there: until a word is added, there is nothing to write. */
  readonly isVersion: boolean;
}

/** What is saved, as far as a plan asks. */
export interface Saved<M extends UIMessage> {
  /** The last message of the branch; undefined for an empty one. */
  readonly head: string | undefined;
  /** Whether a message is saved. */
  has(message: M): boolean;
  /** Whether a message is saved right after another one, or at the beginning. */
  isAt(message: M, previous: M | undefined): boolean;
  /** Whether a message is saved with these words. */
  isSame(message: M): boolean;
}

/**
 * Compares a list with what is saved. `messageId` is the one that the request names; where that is an answer, that
 * answer goes on, and a last message that is an answer does so too.
 */
export function planTurn<M extends UIMessage>(
  list: readonly M[],
  saved: Saved<M>,
  messageId?: string,
): TurnPlan<M> {
  // What stands twice in a list is one message.
  const spoken = [...new Set(list)].filter(
    (message) => message.role !== 'assistant' || hasWords(message) || saved.has(message),
  );
  const at = answerIndex(spoken, messageId);
  const before = at === -1 ? spoken : spoken.slice(0, at);
  const first = before.findIndex(
    (message, i) => !saved.isAt(message, before[i - 1]) || !saved.isSame(message),
  );
  const kept = first === -1 ? before : before.slice(0, first);
  const answer = spoken[at];
  const isThere = answer !== undefined && first === -1 && saved.isAt(answer, before.at(-1));
  const isEnd = at === spoken.length - 1 && saved.head !== answer?.id;
  const isVersion = isThere && isEnd && saved.isSame(answer);
  return { kept, fresh: before.slice(kept.length), answer, inPlace: isThere && !isEnd, isVersion };
}

/**
 * The conversation of a turn that was saved, with what became known meanwhile: messages that were answered since
 * (`now` has them, `known` has not), and earlier ones that were loaded.
 */
export function savedSince<M extends UIMessage>(
  known: { has(message: M): boolean },
  now: readonly M[],
  before: readonly M[],
): readonly M[] {
  const newer = new Map(now.flatMap((message) => (known.has(message) ? [] : [[message.id, message]])));
  const first = now.findIndex(({ id }) => id === before[0]?.id);
  const earlier = now.slice(0, Math.max(first, 0)).filter(({ id }) => newer.has(id));
  return [...earlier, ...before.map((message) => newer.get(message.id) ?? message)];
}

function answerIndex(list: readonly UIMessage[], messageId: string | undefined): number {
  const named = list.findIndex(({ id, role }) => id === messageId && role === 'assistant');
  if (named !== -1) return named;
  return list.at(-1)?.role === 'assistant' ? list.length - 1 : -1;
}

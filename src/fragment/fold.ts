import type { UIMessage } from 'ai';
import type { ContextFragment } from './fragment.ts';

/**
 * Where reminders meet messages.
 *
 * A reminder is a fragment that shows nothing in the system prompt and has something to say to the user's next message
 * instead. The engine must not carry the code of reminders for those who use none, so all it knows is this: some
 * fragments hold a {@link Fold} under {@link FOLD}, and each of them may give the message back changed.
 */

/** What a reminder may look at. Everything is as of before the message is sent. */
export interface FoldContext {
  /** The number of this user message on its branch: 1 for the first. */
  readonly turn: number;
  /** The messages before this one on its branch, oldest first. */
  readonly messages: readonly UIMessage[];
  /** What the chat has used so far, in tokens, by the AI SDK's names: `totalTokens`, `inputTokens`. */
  readonly usage?: Readonly<Record<string, unknown>> | undefined;
  /** Milliseconds since the message before this one. */
  readonly elapsedMs?: number | undefined;
  /** Hears of reminders that failed. Default: a warning on the console. */
  readonly report?: ((error: unknown) => void) | undefined;
}

/** Gives a message with something folded in, or the same object. Never rejects. */
type Fold = (message: UIMessage, context: FoldContext) => Promise<UIMessage>;

/** The key under which a fragment holds its {@link Fold}. */
export const FOLD: unique symbol = Symbol.for('contextree:fold');

/** A fragment with something for the next user message. */
export interface FoldingFragment extends ContextFragment {
  readonly [FOLD]: Fold;
}

/** Whether a fragment has something for the next user message. */
function isFolding(fragment: ContextFragment): fragment is FoldingFragment {
  return FOLD in fragment;
}

/** The message with all that the fragments fold into it, in their order; the same object where that is nothing. */
export async function foldInto(
  message: UIMessage,
  fragments: readonly ContextFragment[],
  context: FoldContext,
): Promise<UIMessage> {
  let folded = message;
  for (const fragment of fragments.filter(isFolding)) folded = await fragment[FOLD](folded, context);
  return folded;
}

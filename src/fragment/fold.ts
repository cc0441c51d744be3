import type { UIMessage } from 'ai';
import { FOLD, isFolding, type ContextFragment } from './fragment.ts';

/**
 * How reminders are added to messages. Apps without reminders must not load their code: the engine knows that some fragments
 * hold a fold under {@link FOLD}, which may return a changed message. `reminded.ts` reads what it left in a stored one.
 */

/** The context of a reminder, as of before the message is sent. */
export interface FoldContext {
  /** The number of this user message on its branch: 1 for the first. */
  readonly turn: number;
  /** The messages before this one on its branch, oldest first. */
  readonly messages: readonly UIMessage[];
  /** What the chat has used so far, in tokens, by the AI SDK's names: `totalTokens`, `inputTokens`. */
  readonly usage?: Readonly<Record<string, unknown>> | undefined;
  /** Milliseconds since the message before this one was begun; undefined for a first message. */
  readonly elapsedMs?: number | undefined;
  /** Called with the error of each reminder that failed. Default: a warning on the console. */
  readonly report?: ((error: unknown) => void) | undefined;
}

/** Resolves to the message with the fragment's text in it, or to the same object. Never rejects. */
type Fold = (message: UIMessage, context: FoldContext) => Promise<UIMessage>;

/** A fragment that folds text into user messages. */
export interface FoldingFragment extends ContextFragment {
  readonly [FOLD]: Fold;
}

/** The message with everything that the fragments fold into it, in order; the same object if that is nothing. */
export async function foldInto(
  message: UIMessage,
  fragments: readonly ContextFragment[],
  context: FoldContext,
): Promise<UIMessage> {
  let folded = message;
  for (const fragment of fragments.filter(isFolding)) folded = await fragment[FOLD](folded, context);
  return folded;
}

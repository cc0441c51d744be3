import type { ContextEngine } from 'contextree';
import { keepEditedText, keepSentText } from '../unsent.ts';

/** Keeps the words of a question that is being sent where a reload finds them, until the question is saved. */
export function keepUntilSaved(engine: ContextEngine, messageId: string, text: string): void {
  const forget = keepSentText(engine.chatId, text);
  const stop = engine.state.subscribe(({ saveState }) => {
    if (saveState.pending > 0 || engine.node(messageId) === undefined) return;
    stop();
    forget();
  });
}

/**
 * Sends new words for a message. What was typed is forgotten when the version that they make is saved, and no sooner:
 * words that were refused are offered again.
 */
export async function editUntilSaved(
  engine: ContextEngine,
  messageId: string,
  edit: () => Promise<void>,
): Promise<void> {
  const { chatId } = engine;
  const versions = (): number => engine.siblings(messageId).ids.length;
  const before = versions();
  const stop = engine.state.subscribe(({ saveState }) => {
    if (saveState.pending > 0 || versions() === before) return;
    stop();
    keepEditedText(chatId, messageId, '');
  });
  try {
    await edit();
  } catch (error) {
    stop();
    throw error;
  }
}

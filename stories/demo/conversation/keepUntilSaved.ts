import type { ContextEngine } from 'contextree';
import { keepSentText } from '../unsent.ts';

/** Keeps the words of a question that is being sent where a reload finds them, until the question is saved. */
export function keepUntilSaved(engine: ContextEngine, messageId: string, text: string): void {
  const { chatId } = engine;
  keepSentText(chatId, text);
  const stop = engine.state.subscribe(({ saveState }) => {
    if (saveState.pending > 0 || engine.node(messageId) === undefined) return;
    stop();
    keepSentText(chatId, '');
  });
}

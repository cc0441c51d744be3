import { isFileUIPart, isTextUIPart, type UIMessage } from 'ai';
import type { ContextEngine } from 'contextree';
import { keepEditedText, keepSentText } from '../unsent.ts';
import { keepSentFiles } from '../unsentFiles.ts';

/** The questions that were sent through an engine: until it has them, they are on their way. */
const sent = new WeakMap<ContextEngine, Set<string>>();

/** Whether a question was sent through this engine, and not by an earlier page or view of the chat. */
export function wasSentThrough(engine: ContextEngine, questionId: string): boolean {
  return sent.get(engine)?.has(questionId) ?? false;
}

/** Keeps the words and files of a question that is being sent where a reload finds them, until it is saved. */
export function keepUntilSaved(engine: ContextEngine, question: UIMessage): void {
  const { id, parts } = question;
  sent.set(engine, (sent.get(engine) ?? new Set()).add(id));
  const text = parts.map((part) => (isTextUIPart(part) ? part.text : '')).join('');
  const files = parts.filter(isFileUIPart);
  const forgetText = keepSentText(engine.chatId, id, text);
  const forgetFiles = files.length > 0 && keepSentFiles(engine.store, engine.chatId, id, files);
  const stop = engine.state.subscribe(({ saveState }) => {
    if (saveState.pending > 0 || engine.node(id) === undefined) return;
    stop();
    forgetText();
    if (forgetFiles) forgetFiles();
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

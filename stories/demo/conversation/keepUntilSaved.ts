import { isFileUIPart, isTextUIPart, type UIMessage } from 'ai';
import type { ContextEngine, EngineState } from 'contextree';
import { keepEditedText, keepSentText } from '../unsent.ts';
import { keepSentFiles } from '../unsentFiles.ts';

/** The questions sent through an engine: they are on their way until the engine has saved them. */
const sent = new WeakMap<ContextEngine, Set<string>>();

/** Whether a question was sent through this engine, and not by an earlier page or view of the chat. */
export function wasSentThrough(engine: ContextEngine, questionId: string): boolean {
  return sent.get(engine)?.has(questionId) ?? false;
}

/**
 * Keeps the text and files of a question that is being sent, for a reload, until it is saved. One that has to wait is saved with
 * the queue, before its turn is: `queued` resolves then.
 */
export function keepUntilSaved(engine: ContextEngine, question: UIMessage, queued?: Promise<void>): void {
  const { id, parts } = question;
  sent.set(engine, (sent.get(engine) ?? new Set()).add(id));
  const text = parts.map((part) => (isTextUIPart(part) ? part.text : '')).join('');
  const files = parts.filter(isFileUIPart);
  const forgetText = keepSentText(engine.chatId, id, text);
  const forgetFiles = files.length > 0 && keepSentFiles(engine.store, engine.chatId, id, files);
  let isQueued = false;
  const look = ({ saveState }: EngineState): void => {
    if (saveState.pending > 0 || !(isQueued || engine.node(id))) return;
    stop();
    forgetText();
    if (forgetFiles) forgetFiles();
  };
  const stop = engine.state.subscribe(look);
  void queued?.finally(() => {
    isQueued = true;
    look(engine.state.getState());
  });
}

/**
 * Sends new text for a message. The typed text is forgotten only when its version is saved, so that refused text is offered
 * again.
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

import { useEngine, useEngineState } from 'contextree';
import { useEffect } from 'react';
import { titleFrom } from '../titles.ts';
import { chatWasSent } from '../unsent.ts';

/**
 * Names a chat after its first question, once. A chat that has a name, or had one, keeps what people made of it:
 * `metadata.titled` says that naming is over. Returns the name that waits for a disk which refuses.
 */
export function useFirstQuestion(chatId: string): string | undefined {
  const engine = useEngine();
  const title = useEngineState(({ chat, loadedFrom, messages }) => {
    const isNamed = chat?.title !== undefined || chat?.metadata?.['titled'] !== undefined;
    if (chat === null || isNamed || loadedFrom > 0) return undefined;
    const first = messages.find((message) => message.role === 'user');
    return first && titleFrom(first);
  });
  const isSaved = useEngineState((state) => state.saveState.pending === 0);
  // The engine shows a chat before it is saved; a page that is closed until then has to find the unsent chat again. Where
  // the disk refuses, New chat has to begin another one all the same.
  const isSent = useEngineState(({ chat, saveState }) => chat !== null && saveState.state !== 'saving');
  useEffect(() => {
    if (isSent) chatWasSent(chatId);
  }, [chatId, isSent]);
  useEffect(() => {
    // A title waits for its question: a disk that refuses the one refuses the other.
    if (title === undefined || !isSaved) return;
    engine.updateChat({ title, metadata: { titled: 'question' } }).catch(() => {});
  }, [engine, title, isSaved]);
  return title;
}

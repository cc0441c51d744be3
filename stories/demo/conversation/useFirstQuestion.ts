import { useEngine, useEngineState } from 'contextree';
import { useEffect } from 'react';
import { titleFrom } from '../titles.ts';
import { chatWasSent } from '../unsent.ts';

/**
 * Names a chat after its first question, once. A chat that has, or had, a name keeps what people made of it: `metadata.titled`
 * says that it was named. Returns the name that waits for a refusing disk.
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
  // The engine shows a chat before it is saved. Until then a page that is closed must find the unsent chat again; but if the
  // disk refuses, New chat must begin another one all the same.
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

import { useCallback, useEffect, useRef, useState } from 'react';
import type { TurnState } from './useTurn.ts';

/**
 * Goes on with an answer as soon as the conversation is shown up to it, once for each time that it is asked to. Stable.
 */
export function useGoOnFrom({ shown, streaming, goOn }: TurnState): (messageId: string) => void {
  const [wanted, setWanted] = useState<{ readonly messageId: string }>();
  const begun = useRef<object>(undefined);
  const lastId = shown.at(-1)?.id;
  useEffect(() => {
    if (!wanted || wanted === begun.current || wanted.messageId !== lastId || streaming) return;
    begun.current = wanted;
    goOn();
  }, [wanted, lastId, streaming, goOn]);
  return useCallback((messageId) => setWanted({ messageId }), []);
}

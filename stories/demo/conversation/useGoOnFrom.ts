import { useEffect, useRef, useState } from 'react';
import type { TurnState } from './useTurn.ts';

/**
 * Goes on with an answer as soon as it ends the branch that is shown, once: what a branch is made for begins when the
 * page shows the branch. Stable.
 */
export function useGoOnFrom({ shown, streaming, goOn }: TurnState): (messageId: string | undefined) => void {
  const [wanted, setWanted] = useState<string>();
  const begun = useRef<string>(undefined);
  const lastId = shown.at(-1)?.id;
  useEffect(() => {
    if (wanted === undefined || wanted === begun.current || wanted !== lastId || streaming) return;
    begun.current = wanted;
    goOn();
  }, [wanted, lastId, streaming, goOn]);
  return setWanted;
}

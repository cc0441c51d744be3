import { useCallback, useState } from 'react';
import { describeFailure } from '../failure.ts';
import { useNotices } from './Notices.tsx';
import { oncePerTask } from './once.ts';

/** Runs something that a person asked for, once per task; when it is refused, they are told why. Stable. */
export function useAttempt(): (action: () => Promise<unknown>) => void {
  const { tell } = useNotices();
  const [once] = useState(oncePerTask);
  return useCallback(
    (action) => {
      const refused = (error: unknown): void =>
        tell({ key: 'refused', text: describeFailure(error), lasts: 15_000 });
      once(() => void action().catch(refused));
    },
    [tell, once],
  );
}

import { useCallback, useState } from 'react';
import { describeFailure } from '../failure.ts';
import { useNotices } from './Notices.tsx';
import { oncePerTask } from './once.ts';

/** Runs an action of the person, once per task, and reports a refusal to them. Stable. */
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

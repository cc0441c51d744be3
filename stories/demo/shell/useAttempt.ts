import { useCallback } from 'react';
import { describeFailure } from '../failure.ts';
import { useNotices } from './Notices.tsx';

/** Runs something that a person asked for; when it is refused, they are told why. Stable. */
export function useAttempt(): (action: () => Promise<unknown>) => void {
  const { tell } = useNotices();
  return useCallback(
    (action) => {
      action().catch((error: unknown) =>
        tell({ key: 'refused', text: describeFailure(error), lasts: 15_000 }),
      );
    },
    [tell],
  );
}

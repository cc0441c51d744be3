import { startTransition, useEffect, useState } from 'react';

/** How many messages fill the tallest screen. */
const SCREENFUL = 24;

/**
 * Renders the end of a list first, and the rest a moment later in interruptible work: a long conversation is read from its end,
 * and what is out of view should not delay that.
 */
export function useEndFirst<T>(list: readonly T[]): readonly T[] {
  const [isWhole, setWhole] = useState(false);
  const isThere = list.length > 0;
  useEffect(() => {
    if (isThere) startTransition(() => setWhole(true));
  }, [isThere]);
  return isWhole ? list : list.slice(-SCREENFUL);
}

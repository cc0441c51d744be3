import { startTransition, useEffect, useState } from 'react';

/** How many messages fill the tallest screen. */
const SCREENFUL = 24;

/**
 * The end of a list first, and the rest a moment later, in pieces of work that can be interrupted: a long conversation
 * is read from its end, and should not keep its reader waiting for what is out of sight.
 */
export function useEndFirst<T>(list: readonly T[]): readonly T[] {
  const [isWhole, setWhole] = useState(false);
  const isThere = list.length > 0;
  useEffect(() => {
    if (isThere) startTransition(() => setWhole(true));
  }, [isThere]);
  return isWhole ? list : list.slice(-SCREENFUL);
}

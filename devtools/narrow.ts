import { useLayoutEffect, useState } from 'react';

/** The width below which a panel has no room for two columns, in CSS pixels. */
const SPLIT = 640;

/** Whether there is no room for two columns. */
export function useNarrow(): {
  readonly ref: (element: HTMLElement | null) => void;
  readonly isNarrow: boolean;
} {
  const [element, ref] = useState<HTMLElement | null>(null);
  const [isNarrow, setNarrow] = useState(true);
  useLayoutEffect(() => {
    if (!element || typeof ResizeObserver === 'undefined') return undefined;
    const look = (): void => setNarrow(element.clientWidth < SPLIT);
    const observer = new ResizeObserver(look);
    observer.observe(element);
    look();
    return () => observer.disconnect();
  }, [element]);
  return { ref, isNarrow };
}

import { watchSize } from './resized.ts';
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
  useLayoutEffect(
    () => watchSize(element, () => setNarrow(!element || element.clientWidth < SPLIT)),
    [element],
  );
  return { ref, isNarrow };
}

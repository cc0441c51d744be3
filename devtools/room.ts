import { watchSize } from './resized.ts';
import { useLayoutEffect, useState } from 'react';

/** The width below which a panel has no room for two columns, in CSS pixels. */
const SPLIT = 640;

/** The height from which a panel has room for the facts of a message above its words, in CSS pixels. */
const TALL = 560;

/** Whether there is no room for two columns, and whether there is room for a message's facts above its words. */
export function useRoom(): {
  readonly ref: (element: HTMLElement | null) => void;
  readonly isNarrow: boolean;
  readonly isTall: boolean;
} {
  const [element, ref] = useState<HTMLElement | null>(null);
  const [isNarrow, setNarrow] = useState(true);
  const [isTall, setTall] = useState(false);
  useLayoutEffect(() => {
    const measure = (): void => {
      setNarrow(!element || element.clientWidth < SPLIT);
      setTall(element !== null && element.clientHeight >= TALL);
    };
    return watchSize(element, measure);
  }, [element]);
  return { ref, isNarrow, isTall };
}

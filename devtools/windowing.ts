import { watchSize } from './resized.ts';
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react';

/**
 * Which rows of a long list are visible. All rows have one height, so a division tells, and a list of 100,000 mounts as many
 * elements as one of 50.
 */
export interface RowWindow {
  /** Goes on the element that scrolls. */
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly onScroll: () => void;
  /** The first row to mount. */
  readonly first: number;
  /** The row after the last one to mount. */
  readonly end: number;
  /** How many rows fit: the step of Page Down. */
  readonly page: number;
  /** Scrolls a row into view, no further than needed. */
  readonly reveal: (row: number) => void;
}

/** How many rows are mounted above and below the visible ones, so that scrolling shows no gap. */
const MARGIN = 4;

/** The height to assume where nothing can be measured, in CSS pixels. */
const UNMEASURED = 480;

/** The window onto `count` rows of `height` CSS pixels. */
export function useRowWindow(count: number, height: number): RowWindow {
  const ref = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState({ top: 0, page: Math.ceil(UNMEASURED / height) });

  const look = useCallback(() => {
    const element = ref.current;
    if (!element) return;
    const top = Math.floor(element.scrollTop / height);
    const page = Math.ceil((element.clientHeight || UNMEASURED) / height);
    setSight((before) => (before.top === top && before.page === page ? before : { top, page }));
  }, [height]);

  useLayoutEffect(() => watchSize(ref.current, look), [look]);

  const reveal = useCallback(
    (row: number) => {
      const element = ref.current;
      if (!element) return;
      const seen = element.clientHeight || UNMEASURED;
      const above = row * height;
      if (above < element.scrollTop) element.scrollTop = above;
      else if (above + height > element.scrollTop + seen) element.scrollTop = above + height - seen;
      look();
    },
    [height, look],
  );

  const top = Math.min(sight.top, Math.max(0, count - sight.page));
  const end = Math.min(count, top + sight.page + 1 + MARGIN);
  return { ref, onScroll: look, first: Math.max(0, top - MARGIN), end, page: sight.page, reveal };
}

/** The row that a key leads to; undefined for keys that don't move. */
export function rowAfterKey(key: string, row: number, count: number, page: number): number | undefined {
  const to = {
    ArrowDown: row + 1,
    ArrowUp: row - 1,
    PageDown: row + page,
    PageUp: row - page,
    Home: 0,
    End: count - 1,
  }[key];
  return to === undefined ? undefined : Math.max(0, Math.min(count - 1, to));
}

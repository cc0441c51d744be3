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

/** How many rows are mounted above and below the visible ones, at least. Who scrolls faster sees a gap for a frame. */
const MARGIN = 4;

/** The mounted rows change by so many at once: any render takes React and the browser 4 ms. */
const BLOCK = 8;

/** The height to assume where nothing can be measured, in CSS pixels. */
const UNMEASURED = 480;

/** The window onto `count` rows of `height` CSS pixels. Where it gets smaller, the row of the cursor stays visible if it was. */
export function useRowWindow(count: number, height: number, cursor: number): RowWindow {
  const ref = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState(() => sightAt(0, Math.ceil(UNMEASURED / height)));

  const look = useCallback(() => {
    const element = ref.current;
    if (!element) return;
    const page = Math.ceil((element.clientHeight || UNMEASURED) / height);
    const next = sightAt(Math.floor(element.scrollTop / height), page);
    setSight((before) => (isSame(before, next) ? before : next));
  }, [height]);

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

  const heightBefore = useRef(0);
  useLayoutEffect(
    () =>
      watchSize(ref.current, () => {
        const { clientHeight = 0, scrollTop = 0 } = ref.current ?? {};
        const above = cursor * height - scrollTop;
        // A browser may scroll by parts of a pixel.
        const wasSeen = above > -1 && above + height < heightBefore.current + 1;
        heightBefore.current = clientHeight;
        (wasSeen ? reveal : look)(cursor);
      }),
    [cursor, height, look, reveal],
  );

  // The browser scrolls a list that got shorter after it is rendered.
  const { first, end, page } = sightAt(Math.min(sight.top, Math.max(0, count - sight.page)), sight.page);
  return { ref, onScroll: look, first, end: Math.min(count, end), page, reveal };
}

/** What is seen of a list, and the rows to mount for that. */
interface Sight extends Pick<RowWindow, 'first' | 'end' | 'page'> {
  /** The row on top when these rows were first mounted; it may be up to seven rows off. */
  readonly top: number;
}

function sightAt(top: number, page: number): Sight {
  const first = Math.floor(Math.max(0, top - MARGIN) / BLOCK) * BLOCK;
  const end = Math.ceil((top + page + 1 + MARGIN) / BLOCK) * BLOCK;
  return { top, page, first, end };
}

function isSame(a: Sight, b: Sight): boolean {
  return a.first === b.first && a.end === b.end && a.page === b.page;
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

import { useEffect, useRef, useState, type RefObject } from 'react';

/**
 * Keeps the end of a growing conversation in sight, until its reader goes up.
 *
 * Who scrolls up wants to read there, and words that arrive below must not pull them away; whoever returns to the end
 * follows again. Only a movement against the page's own growth counts as going up: the browser also moves the view
 * when something above it changes its height, and then the height of the whole changes by as much.
 *
 * `isGrowing` is whether there is a conversation to follow: a page without one is read from its top.
 */
export function useFollow(isGrowing: boolean): Following {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const [isAway, setAway] = useState(false);

  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (!box || !inner || !isGrowing) return;
    let last = { top: box.scrollTop, height: box.scrollHeight };
    const look = (): void => {
      const { scrollTop: top, scrollHeight: height } = box;
      const gap = height - top - box.clientHeight;
      if (gap <= NEAR) following.current = true;
      else if (top < last.top - 1 && height >= last.height) following.current = false;
      last = { top, height };
      setAway(!following.current);
    };
    const keepUp = (): void => {
      if (following.current) toEnd(box);
      look();
    };
    const grown = new ResizeObserver(keepUp);
    grown.observe(box);
    grown.observe(inner);
    box.addEventListener('scroll', look, { passive: true });
    return () => {
      grown.disconnect();
      box.removeEventListener('scroll', look);
    };
  }, [isGrowing]);

  const [jumpToEnd] = useState(() => () => {
    following.current = true;
    if (scroller.current) toEnd(scroller.current);
  });
  const [holdView] = useState(() => () => {
    // At the very top the browser would not hold the view when something is put above it.
    if (scroller.current && scroller.current.scrollTop < 1) scroller.current.scrollTop = 1;
  });
  return { scroller, content, isAway, jumpToEnd, holdView };
}

/** How near to the end still counts as being there, in CSS pixels. */
const NEAR = 32;

function toEnd(box: HTMLElement): void {
  box.scrollTop = box.scrollHeight;
}

interface Following {
  /** The element that scrolls. */
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** The element in it that grows. */
  readonly content: RefObject<HTMLDivElement | null>;
  /** Whether the reader went up and the end is out of sight. */
  readonly isAway: boolean;
  /** Goes to the end and follows again. Stable. */
  readonly jumpToEnd: () => void;
  /** Before something is put above: what is being read stays in view. Stable. */
  readonly holdView: () => void;
}

import { useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';

/**
 * Keeps the end of a growing conversation in view, until the person scrolls up.
 *
 * A person who scrolls up wants to read there, and new words below must not move the page; scrolling back to the end follows
 * again. Only a movement against the page's own growth counts as scrolling up: the browser also moves the view when something
 * above changes its height, and then the total height changes by as much, and at the end of the page, when there is more room
 * to show it, by as much as there is. Earlier messages that are added above leave the view where it is: as far from the end as
 * before.
 *
 * `first` is the id of the first message on the page; undefined while there is none, and such a page is read from its top.
 */
export function useFollow(first: string | undefined): Following {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const fromEnd = useRef(0);
  const [isAway, setAway] = useState(false);
  const isGrowing = first !== undefined;

  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (!box || !inner || !isGrowing) return;
    let last = { top: box.scrollTop, height: box.scrollHeight, room: box.clientHeight };
    const look = (): void => {
      const { scrollTop: top, scrollHeight: height, clientHeight: room } = box;
      const gap = height - top - room;
      const pushed = Math.max(0, room - last.room);
      if (top + pushed < last.top - 1 && height >= last.height) following.current = false;
      else if (gap <= NEAR && top > last.top) following.current = true;
      last = { top, height, room };
      fromEnd.current = height - top;
      setAway(!following.current && gap > NEAR);
    };
    const keepUp = (): void => {
      if (following.current) toEnd(box);
      look();
    };
    // A person who unfolds something wants to see it, not the end that it moves away.
    const unfold = (event: Event): void => {
      if (event.target instanceof Element && event.target.closest('summary')) following.current = false;
    };
    // A person who turns the wheel up wants to stay, even if the page is too short to scroll.
    const turn = (event: WheelEvent): void => {
      if (event.deltaY < 0) following.current = false;
    };
    const grown = new ResizeObserver(keepUp);
    grown.observe(box);
    grown.observe(inner);
    box.addEventListener('scroll', look, { passive: true });
    box.addEventListener('click', unfold);
    box.addEventListener('wheel', turn, { passive: true });
    return () => {
      grown.disconnect();
      box.removeEventListener('scroll', look);
      box.removeEventListener('click', unfold);
      box.removeEventListener('wheel', turn);
    };
  }, [isGrowing]);

  const firstBefore = useRef(first);
  useLayoutEffect(() => {
    const before = firstBefore.current;
    firstBefore.current = first;
    const box = scroller.current;
    if (!box || following.current || before === undefined || before === first) return;
    const isStillThere = box.querySelector(`[data-message="${CSS.escape(before)}"]`) !== null;
    if (isStillThere) box.scrollTop = box.scrollHeight - fromEnd.current;
  }, [first]);

  const [jumpToEnd] = useState(() => () => {
    following.current = true;
    if (scroller.current) toEnd(scroller.current);
  });
  return { scroller, content, isAway, jumpToEnd };
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
}

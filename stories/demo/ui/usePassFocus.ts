import { useLayoutEffect, useRef, type RefObject } from 'react';

/**
 * A ref for an item of a list. When the item is removed with the focus in it, its neighbour takes the focus, on the same
 * control: a person who deletes one item after another with the keyboard stays there. The last item calls `alone`, which finds
 * another place for the focus.
 */
export function usePassFocus<T extends HTMLElement>(alone: (item: T) => void): RefObject<T | null> {
  const item = useRef<T>(null);
  const lastResort = useRef(alone);
  useLayoutEffect(() => {
    lastResort.current = alone;
  });
  // React calls this while what it takes away is still on the page, and has the focus.
  useLayoutEffect(() => {
    const leaving = item.current;
    return () => {
      if (leaving?.contains(document.activeElement)) passOn(leaving, lastResort.current);
    };
  }, []);
  return item;
}

function passOn<T extends HTMLElement>(leaving: T, alone: (item: T) => void): void {
  const left = focusable(leaving);
  const place = left.findIndex((element) => element === document.activeElement);
  const neighbours = [leaving.nextElementSibling, leaving.previousElementSibling];
  const there = neighbours.map((neighbour) => neighbour && focusable(neighbour)).find((all) => all?.length);
  // Some have a button more than others: what has the same name, or says `data-same`, is the same button.
  const same = there?.find((element) => nameOf(element) === nameOf(left[place]));
  if (there) (same ?? there[place] ?? there.at(-1))?.focus();
  else alone(leaving);
}

function nameOf(element: HTMLElement | undefined): string | null | undefined {
  return element?.dataset['same'] ?? element?.getAttribute('aria-label') ?? element?.textContent;
}

function focusable(item: Element): HTMLElement[] {
  return [...item.querySelectorAll<HTMLElement>('a[href], button:not(:disabled)')];
}

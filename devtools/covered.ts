import type { Extent, Place } from './dock.ts';

/** Whether a box in the window lies under the panel. */
export function isCovered(box: Omit<DOMRect, 'toJSON'>, { side, size }: Place, window: Extent): boolean {
  if (side === 'top') return box.top < size;
  if (side === 'bottom') return box.bottom > window.height - size;
  return side === 'left' ? box.left < size : box.right > window.width - size;
}

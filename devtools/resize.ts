import { type DevtoolsPosition, type Extent, isBeside, type Place } from './dock.ts';

/** The size that a pointer drags a panel to. */
export function sizeAt(
  side: DevtoolsPosition,
  pointer: { readonly clientX: number; readonly clientY: number },
  window: Extent,
): number {
  if (isBeside(side)) return side === 'left' ? pointer.clientX : window.width - pointer.clientX;
  return side === 'top' ? pointer.clientY : window.height - pointer.clientY;
}

/** The keys that make a panel larger and smaller, by its edge. */
const GROWS: Readonly<Record<DevtoolsPosition, readonly [larger: string, smaller: string]>> = {
  top: ['ArrowDown', 'ArrowUp'],
  bottom: ['ArrowUp', 'ArrowDown'],
  left: ['ArrowRight', 'ArrowLeft'],
  right: ['ArrowLeft', 'ArrowRight'],
};

/** The size after a key; undefined for keys that change none. */
export function sizeAfterKey(
  key: string,
  { side, size, least, most }: Place,
  step: number,
): number | undefined {
  const [larger, smaller] = GROWS[side];
  if (key === larger) return Math.min(most, size + step);
  if (key === smaller) return Math.max(least, size - step);
  return key === 'Home' ? least : key === 'End' ? most : undefined;
}

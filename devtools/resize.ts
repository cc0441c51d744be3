import { type Extent, isBeside, type Place } from './dock.ts';

/** The size that a pointer drags a panel to. */
export function sizeAt(
  { side }: Place,
  { clientX, clientY }: { readonly clientX: number; readonly clientY: number },
  { width, height }: Extent,
): number {
  const [at, whole] = isBeside(side) ? [clientX, width] : [clientY, height];
  return isFar(side) ? whole - at : at;
}

/** The arrow keys, by where they lead: to the far edges of the window, or away from them. */
const LEADS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** The size after a key, which may be beyond the limits; undefined for keys that change none. */
export function sizeAfterKey(
  key: string,
  { side, size, least, most }: Place,
  step: number,
): number | undefined {
  const leads = LEADS[key];
  if (leads !== undefined) return size + (isFar(side) ? -step : step) * leads;
  return { Home: least, End: most }[key];
}

function isFar(side: Place['side']): boolean {
  return side === 'right' || side === 'bottom';
}

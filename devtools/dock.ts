/**
 * Where the floating panel stands.
 *
 * A panel must not cover what a person needs to write and send. Beside the app there is room for it in a wide window only;
 * in a narrower one it stands at the top, because an app's text box is at the bottom, and takes half of the height at most.
 * How much it takes of the window is told to the app, which can make room. Pure: numbers in CSS pixels.
 */
export type DevtoolsPosition = 'top' | 'right' | 'bottom' | 'left';

/** From this width on the panel may stand beside the app. */
const WIDE = 1152;

/** What stays for the app beside the panel. */
const LEFT_FOR_APP = 560;

/** A panel at an edge of the window. */
export interface Place {
  readonly side: DevtoolsPosition;
  /** Its width at the sides, its height at the top and the bottom, and the limits of that. */
  readonly size: number;
  readonly least: number;
  readonly most: number;
}

/** Width and height of a window, or of a panel; a size that nobody chose is undefined. */
export interface Extent {
  readonly width: number;
  readonly height: number;
}

/** Where a panel stands: at the edge that was chosen, where the window has room for it there. */
export function placeOf(
  chosen: DevtoolsPosition | undefined,
  size: Partial<Extent>,
  { width, height }: Extent,
): Place {
  const side = width >= WIDE ? (chosen ?? 'right') : chosen === 'bottom' ? 'bottom' : 'top';
  const most = isBeside(side) ? width - LEFT_FOR_APP : Math.floor(height / 2);
  const least = Math.min(isBeside(side) ? 320 : 120, most);
  const wanted = (isBeside(side) ? size.width : size.height) ?? (isBeside(side) ? 420 : 360);
  return { side, size: Math.min(most, Math.max(least, wanted)), least, most };
}

/** Whether an edge is the left or the right one. */
export function isBeside(side: DevtoolsPosition): boolean {
  return side === 'left' || side === 'right';
}

/** How much of each edge of the window the panel takes. */
export type Insets = Readonly<Record<DevtoolsPosition, number>>;

/** Nothing is taken. */
export const NO_INSETS: Insets = { top: 0, right: 0, bottom: 0, left: 0 };

/** What a panel takes; nothing where there is none at the window. */
export function insetsOf(place: Place | undefined): Insets {
  return place ? { ...NO_INSETS, [place.side]: place.size } : NO_INSETS;
}

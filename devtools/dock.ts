/**
 * The place of the floating panel.
 *
 * A panel must not cover what a person needs to write and send. Only a wide window has room for it beside the app; in a
 * narrower one it docks at the top, because an app's text box is at the bottom, and takes half of the height at most. The app
 * is told how much of the window the panel takes, so that it can make room. Pure: numbers in CSS pixels.
 */
export type DevtoolsPosition = 'top' | 'right' | 'bottom' | 'left';

/** From this width of the window on, the panel may dock beside the app. */
export const WIDE = 1152;

/** The width that is left for the app beside the panel. */
const LEFT_FOR_APP = 560;

/** A panel at an edge of the window. */
export interface Place {
  readonly side: DevtoolsPosition;
  /** Its width at the sides, its height at the top and the bottom, and the limits of that. */
  readonly size: number;
  readonly least: number;
  readonly most: number;
}

/** The size of a window, or of a panel, where a size that nobody chose is undefined. */
export interface Extent {
  readonly width: number;
  readonly height: number;
}

/** The place of a panel: the chosen edge, if the window has room for it there. What was remembered may be damaged. */
export function placeOf(
  chosen: DevtoolsPosition | undefined,
  size: Partial<Extent>,
  { width, height }: Extent,
): Place {
  const side =
    width >= WIDE
      ? chosen && chosen in NO_INSETS
        ? chosen
        : 'right'
      : chosen === 'bottom'
        ? 'bottom'
        : 'top';
  const beside = isBeside(side);
  const most = beside ? width - LEFT_FOR_APP : Math.floor(height / 2);
  const least = Math.min(beside ? 320 : 120, most);
  const wanted = Number(beside ? size.width : size.height) || (beside ? 420 : 360);
  return { side, size: Math.min(most, Math.max(least, wanted)), least, most };
}

/** Whether an edge is the left or the right one. */
export function isBeside(side: DevtoolsPosition): boolean {
  return side === 'left' || side === 'right';
}

/** How much of each edge of the window the panel takes. */
export type Insets = Readonly<Record<DevtoolsPosition, number>>;

/** The panel takes nothing. */
const NO_INSETS: Insets = { top: 0, right: 0, bottom: 0, left: 0 };

/** How much a panel takes; nothing without a size. */
export function insetsOf(side: DevtoolsPosition = 'top', size = 0): Insets {
  return { ...NO_INSETS, [side]: size };
}

import type { KeyboardEvent, PointerEvent, ReactNode } from 'react';
import { type Extent, isBeside, type Place } from './dock.ts';
import { useFieldUnder } from './fieldUnder.ts';
import { sizeAfterKey, sizeAt } from './resize.ts';

/** The edge by which the panel is resized, with the pointer or the arrow keys: a focusable separator is a control. */
export function Resizer({ place, extent, onSize, onUnder }: ResizerProps): ReactNode {
  useFieldUnder(place, extent, onUnder);
  const { side, size, least, most } = place;
  const resize = (to: number): void => onSize(Math.min(most, Math.max(least, Math.round(to))));
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = sizeAfterKey(event.key, place, event.shiftKey ? 64 : 16);
    if (next === undefined) return;
    event.preventDefault();
    resize(next);
  };
  const onPointerMove = (event: PointerEvent): void => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) resize(sizeAt(place, event, extent));
  };
  return (
    <div
      className="resizer"
      role="separator"
      aria-label="Size of the devtools"
      aria-orientation={isBeside(side) ? 'vertical' : 'horizontal'}
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuenow={size}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
    />
  );
}

interface ResizerProps {
  readonly place: Place;
  readonly extent: Extent;
  readonly onSize: (size: number) => void;
  /** Called with whether a focused field of the app lies under the panel. */
  readonly onUnder: (isUnder: boolean) => void;
}

import { useEffect, useState } from 'react';
import { isCovered } from './covered.ts';
import type { Extent, Place } from './dock.ts';

/** Reports whether a focused field of the app lies under the panel, because the app makes no room. */
export function useFieldUnder(place: Place, extent: Extent, onChange: (isUnder: boolean) => void): void {
  const field = useFocusedField();
  useEffect(() => {
    // Measured again when the app has made room, which it may do a moment later, and when the field is scrolled.
    const look = (): void =>
      onChange(field !== null && isCovered(field.getBoundingClientRect(), place, extent));
    look();
    if (field === null) return undefined;
    const resized = new ResizeObserver(look);
    resized.observe(field);
    addEventListener('scroll', look, true);
    return () => {
      resized.disconnect();
      removeEventListener('scroll', look, true);
    };
  }, [field, place, extent, onChange]);
}

/** The field of the app that has the focus. */
function useFocusedField(): Element | null {
  const [field, setField] = useState<Element | null>(null);
  useEffect(() => {
    const look = (): void =>
      setField(document.activeElement?.matches(FIELDS) ? document.activeElement : null);
    const leave = (): void => setField(null);
    look();
    addEventListener('focusin', look);
    addEventListener('focusout', leave);
    return () => {
      removeEventListener('focusin', look);
      removeEventListener('focusout', leave);
    };
  }, []);
  return field;
}

const FIELDS = 'input,select,textarea,[contenteditable]';

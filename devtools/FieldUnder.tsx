import { useEffect, useState } from 'react';
import { isCovered } from './covered.ts';
import type { Extent, Place } from './dock.ts';

/** Reports whether a focused field of the app lies under the panel. */
export function FieldUnder({ place, extent, onChange }: FieldUnderProps): null {
  const isUnder = useFieldUnder(place, extent);
  useEffect(() => onChange(isUnder), [onChange, isUnder]);
  return null;
}

interface FieldUnderProps {
  /** The place of the panel; undefined in a window of its own. */
  readonly place: Place | undefined;
  readonly extent: Extent;
  readonly onChange: (isUnder: boolean) => void;
}

/** Whether a focused field of the app lies under the panel, because the app makes no room. */
function useFieldUnder(place: Place | undefined, extent: Extent): boolean {
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
  return field !== null && place !== undefined && isCovered(field.getBoundingClientRect(), place, extent);
}

const FIELDS =
  'input:not([type=checkbox],[type=radio],[type=button],[type=submit]),textarea,[contenteditable]';

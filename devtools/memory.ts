import type { DevtoolsPosition, Extent } from './dock.ts';
import type { DevtoolsTheme } from './Shadow.tsx';

/** What the devtools remember between visits, in localStorage; nothing where the browser refuses. */
export interface Remembered extends Partial<Extent> {
  readonly isOpen?: boolean;
  readonly tab?: string;
  /** The graph's columns, by name. */
  readonly columns?: readonly string[];
  /** The edge that the person chose, also while the window has no room for it there. */
  readonly side?: DevtoolsPosition;
  readonly theme?: DevtoolsTheme;
  /** The model that was chosen for prices. */
  readonly modelId?: string;
  /** Whether requests are recorded while the panel is closed, too. */
  readonly recordsClosed?: boolean;
}

const KEY = 'contextree:devtools';

/** What is remembered; empty on a first visit, for damaged data, and where storage is refused. */
export function recall(): Remembered {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    return typeof stored === 'object' && stored !== null ? stored : {};
  } catch {
    return {};
  }
}

/** Adds to what is remembered. */
export function remember(more: Remembered): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...recall(), ...more }));
  } catch {
    // Storage is refused or full: the panel works all the same.
  }
}

import type { DevtoolsPosition, Extent } from './dock.ts';
import type { DevtoolsTheme } from './Shadow.tsx';

/** What the devtools remember between visits, in the browser's localStorage; a browser that refuses forgets. */
export interface Remembered extends Partial<Extent> {
  readonly isOpen?: boolean;
  readonly tab?: string;
  /** Of the graph, by name. */
  readonly columns?: readonly string[];
  /** The edge at which it stood last: that of the person's choice, also in a window that has no room for it there. */
  readonly side?: DevtoolsPosition;
  readonly theme?: DevtoolsTheme;
  /** The model whose prices were asked for. */
  readonly modelId?: string;
  /** Whether requests are recorded while the panel is closed, too. */
  readonly recordsClosed?: boolean;
}

const KEY = 'contextree:devtools';

/** What was remembered; empty for a first visit, for damaged data, and where storage is refused. */
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

/** What the devtools remember between visits, in the browser's localStorage; a browser that refuses forgets. */
export interface Remembered {
  readonly isOpen?: boolean;
  readonly tab?: string;
  /** The model whose prices were asked for. */
  readonly modelId?: string;
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

/** Waits where it is time to: long work calls it every so often, so that the page goes on in between. */
export type Rest = () => Promise<void>;

/** After so many words, or short texts: some milliseconds at most. */
export const STRETCH = 1024;

/** After so many ms the page goes on. */
const FRAME = 12;

/** A {@link Rest} for work that begins now. */
export function restNow(): Rest {
  let rested = performance.now();
  return async () => {
    if (performance.now() - rested < FRAME) return;
    // Memory answers at once, and answers alone let no one else have a turn.
    await new Promise((resolve) => setTimeout(resolve));
    rested = performance.now();
  };
}

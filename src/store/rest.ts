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
    await nextTask();
    rested = performance.now();
  };
}

/** No timer, where there is a choice: browsers make those wait when they are many, and tests that hold the clock stop them. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof MessageChannel === 'undefined') return void setTimeout(resolve);
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(null);
  });
}

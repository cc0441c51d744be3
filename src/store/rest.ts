/** To be called every so often by long work: waits when the page should go on. */
export type Rest = () => Promise<void>;

/** So many words, or short texts, take some milliseconds at most. */
export const STRETCH = 1024;

/** Work without a rest, ms. */
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

/** No timer, if possible: browsers delay many of them, and tests with fake timers stop them. */
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

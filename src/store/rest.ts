/** Called every so often by long work: waits when the page needs a turn. */
export type Rest = () => Promise<void>;

/** How many words, or short texts, take some milliseconds at most. */
export const STRETCH = 1024;

/** The longest work between two pauses, in ms. */
const FRAME = 12;

/** A {@link Rest} for work that begins now. */
export function restNow(): Rest {
  let rested = performance.now();
  return async () => {
    if (performance.now() - rested < FRAME) return;
    // Memory answers in microtasks, which let nothing else run.
    await nextTask();
    rested = performance.now();
  };
}

/** Prefer a message over a timer: browsers throttle timers, and tests with fake timers stop them. */
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

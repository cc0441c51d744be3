/** When the words of one answer come. Every wait rejects with the signal's reason as soon as it is aborted. */
export interface Pace {
  /** Resolves when it is time for the next word. */
  nextWord(): Promise<void>;
  /** Never resolves. */
  forever(): Promise<never>;
}

/** How an answer is paced. Times in milliseconds. */
export interface PaceOptions {
  readonly firstWordMs: number;
  readonly nextWordMs: number;
  /** Divides every time; 0 for no waiting at all. */
  readonly speed: number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * A pace that keeps to the clock: a wait that took too long shortens the following ones.
 *
 * Browsers slow the timers of a hidden tab down to one a second. A real answer would arrive there at its usual pace, and
 * be whole when the person comes back; so does this one.
 */
export function createPace({ firstWordMs, nextWordMs, speed, sleep, signal }: PaceOptions): Pace {
  const aborted = whenAborted(signal);
  let begun: number | undefined;
  let due = 0;
  let words = 0;
  return {
    forever: () => aborted,
    async nextWord() {
      signal.throwIfAborted();
      if (speed <= 0) return;
      const ms = (words++ === 0 ? firstWordMs : nextWordMs) / speed;
      due += ms;
      begun ??= performance.now();
      const early = begun + due - performance.now();
      await Promise.race([sleep(Math.min(ms, Math.max(0, early))), aborted]);
    },
  };
}

/** A sleep on the platform's timer. */
export function timerSleep(ms: number): Promise<void> {
  return ms > 0 ? new Promise((resolve) => setTimeout(resolve, ms)) : Promise.resolve();
}

function whenAborted(signal: AbortSignal): Promise<never> {
  const aborted = new Promise<never>((_, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  // Nobody may be waiting when it comes; the next wait tells.
  aborted.catch(() => undefined);
  return aborted;
}

/** How a test lets time go by. */
export interface Time {
  /** Lets so many milliseconds go by, and whatever they bring happen. */
  pass(ms: number): Promise<void>;
  /** Lets time go by until something has ended; gives up after a minute of that time. */
  during<T>(action: Promise<T>): Promise<T | undefined>;
  /** In ms; undefined where a slow machine would make it later than it is. */
  readonly now: number | undefined;
}

/** Time as it is: for pages in a browser, with a database that takes its own. */
export const realTime: Time = {
  pass: (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 5))),
  during: (action) => action,
  now: undefined,
};

interface Timer {
  readonly at: number;
  readonly ring: () => void;
}

/**
 * Time that goes by when it is told to. A minute of waiting costs nothing, and what happens in which order is the same
 * in each run. Between two timers all that was under way is done: promises, streams, and renders.
 */
export class Clock implements Time {
  #now = 0;
  #last = 0;
  readonly #timers: Map<object, Timer> = new Map();
  readonly #rounds: number;
  readonly #real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };

  /** `rounds`: how often whatever is under way gets on between two timers; a database takes several. */
  constructor(rounds = 1) {
    this.#rounds = rounds;
  }

  get now(): number {
    return this.#now;
  }

  /** Takes the place of the timers that there are. */
  install(): void {
    const set = (ring: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): object => {
      const handle = { id: (this.#last += 1), unref: () => handle, ref: () => handle };
      this.#timers.set(handle, { at: this.#now + Math.max(ms, 0), ring: () => ring(...args) });
      return handle;
    };
    Object.assign(globalThis, {
      setTimeout: set,
      clearTimeout: (handle: object) => void this.#timers.delete(handle),
    });
  }

  /** Gives the timers back; what still waits never rings. */
  remove(): void {
    Object.assign(globalThis, this.#real);
    this.#timers.clear();
  }

  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await this.#flush();
    for (let next = this.#next(end); next; next = this.#next(end)) {
      const [handle, { at, ring }] = next;
      this.#timers.delete(handle);
      this.#now = Math.max(this.#now, at);
      ring();
      await this.#flush();
    }
    this.#now = end;
  }

  /** What was under way in microtasks is done, and what that began. */
  async #flush(): Promise<void> {
    for (let round = 0; round < this.#rounds; round += 1) await nextTask();
  }

  /** The timer that rings first, up to a moment. */
  #next(end: number): [object, Timer] | undefined {
    let first: [object, Timer] | undefined;
    for (const entry of this.#timers)
      if (entry[1].at <= end && (!first || entry[1].at < first[1].at)) first = entry;
    return first;
  }

  async during<T>(action: Promise<T>): Promise<T | undefined> {
    const limit = this.#now + 60_000;
    const progress = { isDone: false };
    const end = (): void => {
      progress.isDone = true;
    };
    action.then(end, end);
    await this.#flush();
    while (!progress.isDone && this.#now < limit) await this.pass(1);
    return progress.isDone ? action : undefined;
  }
}

/** Lets whatever waits for its turn have it. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => void later(resolve));
}

/** Begins a task of its own, by no timer. Browsers have none but a message. */
const later = globalThis.setImmediate ?? afterMessage();

function afterMessage(): (task: () => void) => void {
  const { port1, port2 } = new MessageChannel();
  const tasks: (() => void)[] = [];
  port1.onmessage = () => tasks.shift()?.();
  return (task) => {
    tasks.push(task);
    port2.postMessage(undefined);
  };
}

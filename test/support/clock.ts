/** How a test lets time pass. */
export interface Time {
  /** Lets so many milliseconds pass, with everything that happens in them. */
  pass(ms: number): Promise<void>;
  /** Lets time pass until an action has ended; gives up after a minute of that time. */
  during<T>(action: Promise<T>): Promise<T | undefined>;
  /** The time in ms; undefined where a slow machine would show a later one. */
  readonly now: number | undefined;
}

/** Real time: for pages in a browser, with a database of their own speed. */
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
 * A clock that moves when it is told to. A minute of waiting costs nothing, and each run has the same order of events. Between
 * two timers all work under way is finished: promises, streams, and renders.
 */
export class Clock implements Time {
  #now = 0;
  #last = 0;
  readonly #timers: Map<object, Timer> = new Map();
  readonly #rounds: number;
  readonly #real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };

  /** `rounds`: how often work under way is continued between two timers; a database needs several. */
  constructor(rounds = 1) {
    this.#rounds = rounds;
  }

  get now(): number {
    return this.#now;
  }

  /** Replaces the platform's timers. */
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

  /** Restores the platform's timers; waiting ones never fire. */
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

  /** Finishes the microtasks, and the work that they began. */
  async #flush(): Promise<void> {
    for (let round = 0; round < this.#rounds; round += 1) await nextTask();
  }

  /** The timer that fires first, up to a time. */
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

/** Waits for a task, so that everything queued before it runs. */
export function nextTask(): Promise<void> {
  return new Promise((resolve) => void later(resolve));
}

/** Begins a task without a timer. In browsers only a message does. */
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

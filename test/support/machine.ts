import { channelsOver } from './scheduler.ts';

/**
 * A machine on which the same numbers are the same story, to the last step.
 *
 * All that a page waits for lies in one place: the steps of fake-indexeddb, notices between tabs, locks and timers. Numbers
 * say which of them is next. Each step takes a millisecond of the machine's own time, and where nothing waits but timers, the
 * time of the first one has come. Ids and clocks are the machine's, too. Between two steps all promises get on that can.
 */
export class Machine {
  readonly #picks: readonly number[];
  readonly #waiting: (() => void)[] = [];
  readonly #timers: Map<object, { readonly at: number; readonly ring: () => void }> = new Map();
  readonly #real = {
    setImmediate: globalThis.setImmediate,
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    BroadcastChannel: globalThis.BroadcastChannel,
    localStorage: Object.getOwnPropertyDescriptor(globalThis, 'localStorage'),
    locks: Object.getOwnPropertyDescriptor(navigator, 'locks'),
    randomUUID: crypto.randomUUID.bind(crypto),
    date: Date.now.bind(Date),
    performance: performance.now.bind(performance),
  };
  #now = 1_000_000_000_000;
  #ids = 0;
  readonly #loading: Set<object> = new Set();

  constructor(picks: readonly number[]) {
    this.#picks = picks;
  }

  install(): void {
    const wait = (step: () => void): void => void this.#waiting.push(step);
    Object.assign(globalThis, {
      setImmediate: wait,
      setTimeout: (ring: () => void, ms = 0): object => this.#set(ring, ms),
      clearTimeout: (timer: object) => void this.#timers.delete(timer),
      BroadcastChannel: channelsOver(wait),
    });
    define(globalThis, 'localStorage', storageOf(new Map()));
    define(navigator, 'locks', locksOver(wait));
    crypto.randomUUID = () => `00000000-0000-4000-8000-${String((this.#ids += 1)).padStart(12, '0')}`;
    Date.now = () => this.#now;
    performance.now = () => this.#now;
  }

  remove(): void {
    const { localStorage, locks, randomUUID, date, performance: clock, ...globals } = this.#real;
    Object.assign(globalThis, globals);
    restore(globalThis, 'localStorage', localStorage);
    restore(navigator, 'locks', locks);
    crypto.randomUUID = randomUUID;
    Date.now = date;
    performance.now = clock;
  }

  get now(): number {
    return this.#now;
  }

  /** Code is loaded, which takes another time than the machine's: that stands still until the result is called. */
  loading(): () => void {
    const code = {};
    this.#loading.add(code);
    return () => void this.#loading.delete(code);
  }

  /** Lets so many milliseconds go by. */
  rest(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#set(resolve, ms));
  }

  /** Does what waits until some work is done; false where nothing comes any more before, or nothing but timers for an hour. */
  async during(work: Promise<unknown>): Promise<boolean> {
    const progress = { isDone: false };
    const end = (): void => {
      progress.isDone = true;
    };
    work.then(end, end);
    const limit = this.#now + HOUR;
    do await new Promise<void>((resolve) => void this.#real.setImmediate(resolve));
    while (!progress.isDone && this.#now < limit && (this.#loading.size > 0 || this.#step()));
    return progress.isDone;
  }

  #set(ring: () => void, ms: number): object {
    const timer = { unref: () => timer };
    this.#timers.set(timer, { at: this.#now + Math.max(1, ms), ring });
    return timer;
  }

  #step(): boolean {
    this.#now += 1;
    this.#ringThoseDue();
    if (this.#waiting.length === 0) {
      this.#now = Math.max(this.#now, Math.min(...[...this.#timers.values()].map(({ at }) => at)));
      if (this.#now === Infinity) return false;
      this.#ringThoseDue();
    }
    // Nobody waits for ever: some steps only ask whether they may go on.
    const isFair = this.#now % 7 === 0;
    const pick = isFair ? 0 : (this.#picks[this.#now % this.#picks.length] ?? 0) % this.#waiting.length;
    const [step] = this.#waiting.splice(pick, 1);
    step?.();
    return true;
  }

  #ringThoseDue(): void {
    for (const [timer, { at, ring }] of this.#timers) {
      if (at > this.#now) continue;
      this.#timers.delete(timer);
      this.#waiting.push(ring);
    }
  }
}

const HOUR = 3_600_000;

function define(on: object, name: string, value: unknown): void {
  Object.defineProperty(on, name, { configurable: true, writable: true, value });
}

function restore(on: object, name: string, before: PropertyDescriptor | undefined): void {
  Reflect.deleteProperty(on, name);
  if (before) Object.defineProperty(on, name, before);
}

/** What the pages of a site keep beside their databases. */
function storageOf(items: Map<string, string>): object {
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, item: string) => void items.set(key, item),
    removeItem: (key: string) => void items.delete(key),
    clear: () => items.clear(),
  };
}

/** Locks that keep nobody out: what they tell is who holds them. */
function locksOver(wait: (step: () => void) => void): object {
  const held = new Set<{ readonly name: string }>();
  return {
    request: (name: string, ...rest: readonly unknown[]) =>
      new Promise((resolve, reject) => {
        wait(() => {
          const lock = { name };
          held.add(lock);
          const work = rest.at(-1) as (lock: object) => Promise<unknown>;
          work(lock)
            .finally(() => held.delete(lock))
            .then(resolve, reject);
        });
      }),
    query: () => new Promise((resolve) => wait(() => resolve({ held: [...held], pending: [] }))),
  };
}

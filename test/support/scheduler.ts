/**
 * Who goes next, from numbers.
 *
 * fake-indexeddb hands each of its steps to `setImmediate`, and asks for it anew each time. Here those steps, and the
 * notices between tabs, wait in one place, and numbers say which of them is done next: the same numbers, the same
 * story. Between two steps all promises get on that can.
 */
export class Scheduler {
  readonly #picks: readonly number[];
  readonly #waiting: (() => void)[] = [];
  readonly #real = { setImmediate: globalThis.setImmediate, BroadcastChannel: globalThis.BroadcastChannel };
  #steps = 0;

  constructor(picks: readonly number[]) {
    this.#picks = picks;
  }

  install(): void {
    const wait = (step: () => void): void => void this.#waiting.push(step);
    Object.assign(globalThis, { setImmediate: wait, BroadcastChannel: channelsOver(wait) });
  }

  remove(): void {
    Object.assign(globalThis, this.#real);
  }

  /**
   * Does what waits, one thing after another, until all of `work` is done; false when nothing comes of itself any more
   * before, also after a while: timers and code that is loaded take theirs.
   */
  async during(work: Promise<unknown>): Promise<boolean> {
    const progress = { isDone: false };
    const end = (): void => {
      progress.isDone = true;
    };
    work.then(end, end);
    // What is begun is brought to its end, also where nobody waits for it.
    for (let idle = 0; idle < (progress.isDone ? 3 : HANGS) && this.#steps < 20_000;) {
      await new Promise<void>((resolve) => {
        if (idle < SOON) this.#real.setImmediate(resolve);
        else setTimeout(resolve, 1);
      });
      idle = this.#step() ? 0 : idle + 1;
    }
    return progress.isDone;
  }

  #step(): boolean {
    if (this.#waiting.length === 0) return false;
    this.#steps += 1;
    // Nobody waits for ever: some steps only ask whether they may go on.
    const isFair = this.#steps % 7 === 0;
    const pick = isFair ? 0 : (this.#picks[this.#steps % this.#picks.length] ?? 0) % this.#waiting.length;
    const [step] = this.#waiting.splice(pick, 1);
    step?.();
    return true;
  }
}

/** So many turns are waited without a pause, most often for promises. */
const SOON = 50;
/** And so many in all, a millisecond each: then somebody waits for ever. */
const HANGS = SOON + 500;

/** Channels whose messages wait for their turn. */
export function channelsOver(wait: (step: () => void) => void): unknown {
  const channels = new Set<Channel>();
  class Channel {
    onmessage: ((event: { readonly data: unknown }) => void) | null = null;
    readonly name: string;
    constructor(name: string) {
      this.name = name;
      channels.add(this);
    }
    postMessage(data: unknown): void {
      const others = [...channels].filter((one) => one !== this && one.name === this.name);
      for (const one of others) wait(() => channels.has(one) && one.onmessage?.({ data }));
    }
    close(): void {
      channels.delete(this);
    }
  }
  return Channel;
}

/** Something that a chat does in its turn. */
export interface Job<T = unknown> {
  /**
   * What is `first` goes before the questions that wait (`asked`), which are asked behind it: what takes the place of an
   * answer, and what is sent where nothing is going on. `last` lets an answer go on, and is given up for one that is `first`.
   */
  readonly rank: 'first' | 'asked' | 'last';
  /** What there is to do before, when its turn has come. */
  readonly prepare: () => Promise<T>;
  /** Undefined when it may begin; else resolves when that may have changed. */
  readonly held?: (() => Promise<unknown> | undefined) | undefined;
  readonly run: (prepared: T) => Promise<void>;
}

/**
 * One request after another: the next one begins when the answer before it, and what it led to, is there. Between the look
 * and the request nothing can begin: not an answer either that goes on by itself when a tool is answered.
 */
export class Line {
  /** What keeps a request from beginning; undefined where nothing does. */
  readonly #busy: () => Promise<unknown> | undefined;
  #jobs: readonly Waiting[] = [];
  #isRunning = false;
  #wake: () => void = () => {};

  constructor(busy: () => Promise<unknown> | undefined) {
    this.#busy = busy;
  }

  /** Does a job in its turn. */
  run<T>(job: Job<T>): Promise<void> {
    return new Promise((resolve, reject) => {
      let prepared: Promise<T> | undefined;
      const waiting: Waiting = {
        rank: job.rank,
        held: () => job.held?.(),
        prepare: () => (prepared ??= job.prepare()),
        run: async () => job.run((await waiting.prepare()) as T),
        resolve,
        reject,
      };
      if (job.rank === 'first') this.#giveUp();
      this.#jobs = [...this.#jobs, waiting].toSorted((a, b) => RANKS[a.rank] - RANKS[b.rank]);
      this.look();
      if (!this.#isRunning) void this.#work();
    });
  }

  /** Looks again what may begin. */
  look(): void {
    this.#wake();
  }

  #giveUp(): void {
    for (const job of this.#jobs) if (job.rank === 'last') job.resolve();
    this.#jobs = this.#jobs.filter(({ rank }) => rank !== 'last');
  }

  async #work(): Promise<void> {
    this.#isRunning = true;
    for (let job; (job = this.#jobs[0]);) {
      const changed = new Promise<void>((resolve) => (this.#wake = resolve));
      const isPrepared = await job.prepare().then(
        () => true,
        () => false,
      );
      const before = isPrepared ? (this.#busy() ?? job.held()) : undefined;
      if (before) await Promise.race([before, changed]);
      else if (job === this.#jobs[0]) {
        this.#jobs = this.#jobs.slice(1);
        await job.run().then(job.resolve, job.reject);
      }
    }
    this.#isRunning = false;
  }
}

interface Waiting {
  readonly rank: Job['rank'];
  readonly prepare: () => Promise<unknown>;
  readonly held: () => Promise<unknown> | undefined;
  readonly run: () => Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const RANKS = { first: 0, asked: 1, last: 1 } as const;

/** One request of a chat, in its turn. */
export interface Job<T = unknown> {
  /**
   * `first` (an edit, a regeneration, a message in an idle chat) goes before the queued questions (`asked`). `last` continues
   * an answer, and is dropped when a `first` job comes.
   */
  readonly rank: 'first' | 'asked' | 'last';
  /** Runs before the job, when its turn has come. */
  readonly prepare: () => Promise<T>;
  /** Undefined when the job may begin; else resolves when that may have changed. */
  readonly held?: (() => Promise<unknown> | undefined) | undefined;
  readonly run: (prepared: T) => Promise<void>;
}

/**
 * Runs the requests of a chat one after another. A request begins when the answer before it, and the tool loop that this answer
 * led to, has ended. Nothing awaits between the check that the chat is idle and the request, so no other request can begin in
 * between.
 */
export class Line {
  /** What keeps a request from beginning; undefined for an idle chat. */
  readonly #busy: () => Promise<unknown> | undefined;
  #jobs: readonly Waiting[] = [];
  #isRunning = false;
  #wake: () => void = () => {};

  constructor(busy: () => Promise<unknown> | undefined) {
    this.#busy = busy;
  }

  /** Runs a job in its turn. Settles with it. */
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

  /** Checks again whether the next job may begin. */
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

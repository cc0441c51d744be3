/** One request of a chat, in its turn. */
export interface Job {
  /**
   * `first` (an edit, a regeneration, a message in an idle chat) goes before the queued questions (`asked`). `last` continues
   * an answer, and is dropped when a `first` job comes.
   */
  readonly rank: 'first' | 'asked' | 'last';
  /** Runs before the job, when its turn has come; default: the chat is read. If this rejects, the job does. */
  readonly prepare?: () => Promise<unknown>;
  readonly run: () => Promise<void>;
}

/**
 * Runs the requests of a chat one after another. A request begins when the answer before it, and the tool loop that this answer
 * led to, has ended. Nothing awaits between the check that the chat is idle and the request, so no other request can begin in
 * between.
 */
export class Jobs {
  readonly #chat: Idle;
  #jobs: readonly Waiting[] = [];
  #isRunning = false;
  #wake: () => void = () => {};

  constructor(chat: Idle) {
    this.#chat = chat;
  }

  /** Runs a job in its turn. Settles with it. */
  run(job: Job): Promise<void> {
    const others = this.#jobs.filter(({ rank }) => job.rank !== 'first' || rank !== 'last');
    for (const other of this.#jobs) if (!others.includes(other)) other.resolve();
    return new Promise((resolve, reject) => {
      const all = [...others, { ...job, resolve, reject }];
      this.#jobs = all.toSorted((a, b) => Number(b.rank === 'first') - Number(a.rank === 'first'));
      this.look();
      if (!this.#isRunning) void this.#work();
    });
  }

  /** Checks again whether the next job may begin: to be called whenever that may have changed. */
  look(): void {
    this.#wake();
  }

  async #work(): Promise<void> {
    this.#isRunning = true;
    for (let job; (job = this.#jobs[0]);) {
      const changed = new Promise<void>((resolve) => (this.#wake = resolve));
      const isPrepared = await (job.prepared ??= job.prepare?.() ?? this.#chat.prepare()).then(
        () => true,
        () => false,
      );
      if (isPrepared && !this.#chat.isFree(job)) {
        await changed;
        await this.#chat.pause();
      } else if (job === this.#jobs[0]) {
        this.#jobs = this.#jobs.slice(1);
        await (isPrepared ? job.run() : job.prepared).then(job.resolve, job.reject);
      }
    }
    this.#isRunning = false;
  }
}

/** What the jobs of a chat wait for. */
interface Idle {
  /** Reads the chat. */
  prepare(): Promise<unknown>;
  isFree(job: Job): boolean;
  /** Waits for a tool loop that an answer led to: the AI SDK sends its next request within the task that ends the answer. */
  pause(): Promise<void> | undefined;
}

interface Waiting extends Job {
  prepared?: Promise<unknown>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

import { useEffect, useState } from 'react';

/** The last answer to a question that is asked again and again. */
export interface Answer<T> {
  readonly value?: T;
  /** Why the last question had no answer. */
  readonly error?: Error;
}

type Question<T> = (signal: AbortSignal) => Promise<T>;

/**
 * The answer to `question`, asked again for each other `moment`. One question at a time, and of those that come
 * meanwhile only the last: what takes long is shown late, but shown. Give up on one when its signal says so.
 */
export function useAnswer<M, T>(
  question: (moment: M, signal: AbortSignal) => Promise<T>,
  moment: M,
): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({});
  const [queue] = useState(() => new Queue<T>(setAnswer));
  useEffect(() => queue.ask((signal) => question(moment, signal)), [queue, question, moment]);
  useEffect(() => () => queue.stop(), [queue]);
  return answer;
}

class Queue<T> {
  #running: AbortController | null = null;
  #next: Question<T> | null = null;
  readonly #tell: (answer: Answer<T>) => void;

  constructor(tell: (answer: Answer<T>) => void) {
    this.#tell = tell;
  }

  ask(question: Question<T>): void {
    if (this.#running) {
      this.#next = question;
      return;
    }
    this.#running = new AbortController();
    void this.#run(question, this.#running);
  }

  stop(): void {
    this.#running?.abort();
    this.#running = this.#next = null;
  }

  async #run(question: Question<T>, control: AbortController): Promise<void> {
    const answer = await answerTo(question, control.signal);
    if (this.#running !== control) return;
    const next = this.#next;
    this.#running = this.#next = null;
    this.#tell(answer);
    if (next) this.ask(next);
  }
}

async function answerTo<T>(question: Question<T>, signal: AbortSignal): Promise<Answer<T>> {
  try {
    return { value: await question(signal) };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }
}

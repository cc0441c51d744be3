import { type ReactNode, startTransition, useEffect, useState } from 'react';
import { Alert } from './attempt.tsx';
import { errorOf } from './reason.ts';

/** The last result of a query that is repeated. */
export interface Answer<T> {
  readonly value?: T;
  /** Why the last query failed. */
  readonly error?: Error;
}

/** Asks something that takes a while, and stops when the signal says so. */
type Question<T> = (signal: AbortSignal) => T | Promise<T>;

/**
 * The result of `question`, asked again when one of the values of `moment` changes: all that it reads. One query runs at a time,
 * and of those requested meanwhile only the last: a slow result is shown late, but shown, and in slices, so that the app goes on.
 */
export function useAnswer<T>(question: Question<T>, moment: readonly unknown[]): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({});
  const [queue] = useState(() => new Queue<T>((next) => startTransition(() => setAnswer(next))));
  useEffect(() => queue.ask(question, moment));
  useEffect(() => () => queue.stop(), [queue]);
  return answer;
}

/** What to show in place of an answer: that it is awaited, or why there is none. */
export function instead({ value, error }: Answer<unknown>): ReactNode {
  if (error) return <Alert>Failed: {error.message}</Alert>;
  return value === undefined && <p className="words grow">Loading…</p>;
}

class Queue<T> {
  #moment: readonly unknown[] | undefined;
  #next: Question<T> | undefined;
  #running: AbortController | undefined;
  readonly #tell: (answer: Answer<T>) => void;

  constructor(tell: (answer: Answer<T>) => void) {
    this.#tell = tell;
  }

  ask(question: Question<T>, moment: readonly unknown[]): void {
    if (this.#moment?.every((value, i) => Object.is(value, moment[i]))) return;
    this.#moment = moment;
    this.#next = question;
    if (!this.#running) void this.#run(question);
  }

  stop(): void {
    this.#running?.abort();
    this.#running = this.#moment = undefined;
  }

  async #run(question: Question<T>): Promise<void> {
    const control = (this.#running = new AbortController());
    this.#next = undefined;
    const answer = await answerTo(() => question(control.signal));
    if (this.#running !== control) return;
    this.#running = undefined;
    this.#tell(answer);
    if (this.#next) void this.#run(this.#next);
  }
}

async function answerTo<T>(question: () => T | Promise<T>): Promise<Answer<T>> {
  try {
    return { value: await question() };
  } catch (error) {
    return { error: errorOf(error) };
  }
}

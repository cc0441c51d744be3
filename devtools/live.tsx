import { type ReactNode, startTransition, useEffect, useState } from 'react';
import { Alert } from './attempt.tsx';
import { errorOf } from './reason.ts';

/** The last result of a query that is repeated. */
export interface Answer<T> {
  readonly value?: T;
  /** Why the last query failed. */
  readonly error?: Error;
}

type Question<M, T> = (moment: M, signal: AbortSignal) => Promise<T>;

/**
 * The result of `question`, the same function each time, repeated when one of the values of `moment` changes. One query runs at
 * a time, and of those requested meanwhile only the last: a slow result is shown late, but shown, and in slices, so that the app
 * goes on. A query should stop when its signal says so.
 */
export function useAnswer<M extends object, T>(question: Question<M, T>, moment: M): Answer<T> {
  const [answer, setAnswer] = useState<Answer<T>>({});
  const [queue] = useState(() => new Queue<M, T>(question, (next) => startTransition(() => setAnswer(next))));
  useEffect(() => queue.ask(moment));
  useEffect(() => () => queue.stop(), [queue]);
  return answer;
}

/** What to show in place of an answer: that it is awaited, or why there is none. */
export function instead({ value, error }: Answer<unknown>, failed: string, awaited = 'Loading…'): ReactNode {
  if (error)
    return (
      <Alert>
        {failed}: {error.message}
      </Alert>
    );
  return value === undefined && <p className="words grow">{awaited}</p>;
}

class Queue<M extends object, T> {
  #asked: M | null = null;
  #running: AbortController | null = null;
  #isNext = false;
  readonly #question: Question<M, T>;
  readonly #tell: (answer: Answer<T>) => void;

  constructor(question: Question<M, T>, tell: (answer: Answer<T>) => void) {
    this.#question = question;
    this.#tell = tell;
  }

  ask(moment: M): void {
    if (isSame(this.#asked, moment)) return;
    this.#asked = moment;
    this.#isNext = true;
    if (!this.#running) void this.#run(moment);
  }

  stop(): void {
    this.#running?.abort();
    this.#running = this.#asked = null;
  }

  async #run(moment: M): Promise<void> {
    const control = new AbortController();
    this.#running = control;
    this.#isNext = false;
    const answer = await answerTo(() => this.#question(moment, control.signal));
    if (this.#running !== control) return;
    this.#running = null;
    this.#tell(answer);
    if (this.#isNext && this.#asked) void this.#run(this.#asked);
  }
}

function isSame<M extends object>(before: M | null, now: M): boolean {
  const values = Object.values(before ?? {});
  return before !== null && Object.values(now).every((value, i) => Object.is(value, values[i]));
}

async function answerTo<T>(question: () => Promise<T>): Promise<Answer<T>> {
  try {
    return { value: await question() };
  } catch (error) {
    return { error: errorOf(error) };
  }
}

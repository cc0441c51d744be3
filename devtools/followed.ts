import type { ContextEngine } from 'contextree';

/** A list that changes as a whole, and whoever shows it hears of that. */
export class Followed<T> {
  #items: readonly T[] = [];
  readonly #readers = new Set<() => void>();

  /** The same list until it changes. */
  readonly list = (): readonly T[] => this.#items;

  /** Notifies of each change; returns a function that unsubscribes. */
  readonly subscribe = (reader: () => void): (() => void) => {
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  };

  protected set(items: readonly T[]): void {
    this.#items = items;
    for (const reader of this.#readers) reader();
  }
}

/** What is made once for each engine, as long as the page lives. */
export function perEngine<T>(make: new (engine: ContextEngine) => T): (engine: ContextEngine) => T {
  const known = new WeakMap<ContextEngine, T>();
  return (engine) => {
    const one = known.get(engine) ?? new make(engine);
    known.set(engine, one);
    return one;
  };
}

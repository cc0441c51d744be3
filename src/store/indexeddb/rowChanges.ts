import type { Change } from '../store.ts';

/**
 * Changes of a chat's messages that wait for the rows that they tell of.
 *
 * Rows come from the newest message to the oldest, and their changes came before them in the order of their numbers. So
 * the one that is looked for is the last one, and an import looks nothing up. Where rows come in another order, the
 * changes are found by their ids.
 */
export class RowChanges {
  readonly #stack: Change[] = [];
  #byId: Map<string, Change> | undefined;

  add(change: Change): void {
    if (this.#byId) this.#byId.set(change.id, change);
    else this.#stack.push(change);
  }

  /** The change of a message, which waits no more; undefined where there is none. */
  take(id: string): Change | undefined {
    if (!this.#byId && this.#stack.at(-1)?.id === id) return this.#stack.pop();
    this.#byId ??= new Map(this.#stack.splice(0).map((change) => [change.id, change]));
    const change = this.#byId.get(id);
    this.#byId.delete(id);
    return change;
  }

  /** Those that nobody has taken. */
  rest(): readonly Change[] {
    return this.#byId ? [...this.#byId.values()] : this.#stack;
  }
}

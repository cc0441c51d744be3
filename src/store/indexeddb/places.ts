import type { NodeInfo } from '../../graph/graph.ts';

type Place = Pick<NodeInfo, 'id' | 'parentId' | 'depth'>;

/**
 * Where messages hang when those that were written down come back beside those that are there: each follows what it
 * followed when it was written down, unless that is lost. A page that had only the end of its chat wrote that again, as
 * if the chat began there.
 */
export class Places {
  readonly #parents: Map<string, string | null>;
  readonly #depths = new Map<string | null, number>([[null, 0]]);

  constructor(kept: readonly Place[], there: readonly Place[]) {
    const all = [...kept, ...there];
    const parents = new Map(all.map(({ id, parentId }) => [id, parentId]));
    for (const { id, parentId } of kept)
      if (parentId !== null && parents.has(parentId)) parents.set(id, parentId);
    this.#parents = parents;
    // What follows a message that is lost stays as deep as it was.
    for (const { id, depth } of all) if (!parents.has(this.parentOf(id) ?? id)) this.#depths.set(id, depth);
  }

  /** What a message follows; null for one that begins the chat. */
  parentOf(id: string): string | null {
    return this.#parents.get(id) ?? null;
  }

  /** How many messages a chain has that ends at this one; 0 for null, undefined for one that is lost. */
  countTo(id: string | null): number | undefined {
    return id === null || this.#parents.has(id) ? this.depthOf(id) : undefined;
  }

  /** How deep a message lies: one that begins the chat at 1. */
  depthOf(id: string | null): number {
    const way: string[] = [];
    let at = id;
    for (; at !== null && !this.#depths.has(at); at = this.parentOf(at)) {
      // A ring ends where it began.
      this.#depths.set(at, 0);
      way.push(at);
    }
    let depth = this.#depths.get(at) ?? 0;
    for (const one of way.toReversed()) this.#depths.set(one, (depth += 1));
    return depth;
  }

  /** Whether one message lies on the way from another one to where the chat begins; null lies on each. */
  holds(head: string | null, id: string | null): boolean {
    const seen = new Set<string>();
    let at = head;
    while (at !== null && at !== id && !seen.has(at)) {
      seen.add(at);
      at = this.parentOf(at);
    }
    return at === id;
  }
}

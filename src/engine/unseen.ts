import { isVisible, type MessageGraph, type NodeInfo } from '../graph/graph.ts';

/**
 * Messages that nobody sees, and that stand before others.
 *
 * A message without words keeps its place for what stands behind it: a chat that was lost and written again may begin with
 * such. Who is told how long a branch is, or how much comes before what is loaded, counts what can be seen; so these are
 * counted on the way to a message, and taken off. Each branch that is told of asks. Mostly there are none, and that is looked
 * up once for as many messages as there are; else what was counted is remembered, for all messages on the way.
 */
export class Unseen {
  readonly #graph: MessageGraph;
  readonly #ids: Set<string> = new Set();
  /** How many there are up to each message, as far as somebody asked. */
  readonly #counts: Map<string, number> = new Map();
  /** Whether anything stands behind one of them, when there were so many messages. */
  #isAnyFollowed: { readonly of: number; readonly is: boolean } | undefined;

  constructor(graph: MessageGraph) {
    this.#graph = graph;
  }

  /** A message is new, or has words by now, or has none any more. */
  note(info: NodeInfo): void {
    if (this.#ids.has(info.id) !== isVisible(info)) return;
    if (isVisible(info)) this.#ids.delete(info.id);
    else this.#ids.add(info.id);
    this.countAnew();
  }

  /** Messages are gone. */
  forget(ids: readonly string[]): void {
    for (const id of ids) this.#ids.delete(id);
    this.countAnew();
  }

  /** Some stand elsewhere by now. */
  countAnew(): void {
    this.#counts.clear();
    this.#isAnyFollowed = undefined;
  }

  /** How many there are up to this message, and with it. */
  upTo(id: string | null): number {
    if (!this.#hasFollowed) return 0;
    const { nodes } = this.#graph;
    const way: string[] = [];
    let at = nodes.get(id ?? '');
    // A ring ends where it began.
    for (; at && !this.#counts.has(at.id); at = nodes.get(at.parentId ?? '')) {
      this.#counts.set(at.id, 0);
      way.push(at.id);
    }
    let count = this.#counts.get(at?.id ?? '') ?? 0;
    for (const one of way.toReversed()) this.#counts.set(one, (count += this.#ids.has(one) ? 1 : 0));
    return count;
  }

  get #hasFollowed(): boolean {
    const { nodes, children } = this.#graph;
    if (this.#isAnyFollowed?.of !== nodes.size)
      this.#isAnyFollowed = { of: nodes.size, is: [...this.#ids].some((id) => children.has(id)) };
    return this.#isAnyFollowed.is;
  }
}

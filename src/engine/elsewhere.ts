import type { UIMessage } from 'ai';
import { chainIds } from '../graph/graph.ts';
import type { Desk } from './desk.ts';
import type { History } from './history.ts';
import { sameJson } from './sameJson.ts';

/**
 * What another tab is writing on the branch that is shown here.
 *
 * The view of a branch moves only to what is settled: a turn that is sent from here must hang on words that stay. But
 * whoever looks should see the other tab's question, and its answer grow. So these stand beside the view, and are no
 * part of it: nothing hangs on them, and when the answer is whole the view moves on and they are gone from here.
 */
export class Elsewhere {
  /** The other tab's messages, oldest first; the last one grows, from nothing. */
  messages: readonly UIMessage[] = [];
  readonly #desk: Desk;
  readonly #history: History;

  constructor(desk: Desk, history: History) {
    this.#desk = desk;
    this.#history = history;
  }

  /** Reads what was written and drafted since, behind the message that a branch is shown up to. */
  async read(branchId: string, shownTo: string | null): Promise<void> {
    const ids = this.#idsBehind(branchId, shownTo);
    if (ids.length === 0) this.messages = [];
    else this.messages = await this.#load(ids);
  }

  /** The ids from the one shown to a head that another tab is writing. A message that goes on is behind itself. */
  #idsBehind(branchId: string, shownTo: string | null): readonly string[] {
    const { graph, branches, foreign } = this.#history;
    const head = branches.get(branchId)?.headMessageId ?? null;
    if (head === null || !foreign.has(head)) return [];
    if (head === shownTo) return [head];
    const ids = chainIds(graph, head, shownTo);
    return (graph.nodes.get(ids[0] ?? '')?.parentId ?? null) === shownTo ? ids : [];
  }

  async #load(ids: readonly string[]): Promise<readonly UIMessage[]> {
    try {
      const nodes = await this.#desk.store.getNodes(this.#desk.chatId, ids);
      const known = new Map(this.messages.map((message) => [message.id, message]));
      return nodes.map(({ id, data }) => {
        const before = known.get(id);
        return before && sameJson(before, data) ? before : data;
      });
    } catch {
      // What can't be read now is read with the next word; no turn of this tab depends on it.
      return this.messages;
    }
  }
}

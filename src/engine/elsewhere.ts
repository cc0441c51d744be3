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
  #messages: readonly UIMessage[] = [];
  /** What they stand behind. */
  #place = '';
  readonly #desk: Desk;
  readonly #history: History;

  constructor(desk: Desk, history: History) {
    this.#desk = desk;
    this.#history = history;
  }

  /**
   * The other tab's messages behind the one that a branch is shown up to, as far as they are read: oldest first; the last
   * one grows, from nothing.
   */
  behind(branchId: string, shownTo: string | null): readonly UIMessage[] {
    return this.#place === placeOf(branchId, shownTo) ? this.#messages : [];
  }

  /** Reads what was written and drafted since. */
  async read(branchId: string, shownTo: string | null): Promise<void> {
    const ids = this.#idsBehind(branchId, shownTo);
    const messages = ids.length === 0 ? [] : await this.#load(ids, this.behind(branchId, shownTo));
    [this.#messages, this.#place] = [messages, placeOf(branchId, shownTo)];
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

  async #load(ids: readonly string[], instead: readonly UIMessage[]): Promise<readonly UIMessage[]> {
    try {
      const nodes = await this.#desk.store.getNodes(this.#desk.chatId, ids);
      const told = this.#desk.state.getState().elsewhere;
      const known = new Map(told.map((message) => [message.id, message]));
      return nodes.map(({ id, data }) => {
        const before = known.get(id);
        return before && sameJson(before, data) ? before : data;
      });
    } catch {
      // What can't be read now is read with the next word; no turn of this tab depends on it.
      return instead;
    }
  }
}

function placeOf(branchId: string, shownTo: string | null): string {
  return `${branchId} ${shownTo}`;
}

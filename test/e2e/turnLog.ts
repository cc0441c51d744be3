/**
 * Was anything lost? A log of turns is compared with what is in the database in the end.
 *
 * The log knows nothing of how a store works. A tab asks for one turn after the other. A turn that was told as saved must be
 * there, on a branch, with its words; any other one is there as a whole or not at all, because its tab died before the answer.
 * Turns of one tab are in the order of their requests, and nothing is there that nobody said.
 */
export class TurnLog {
  readonly #turns: Turn[] = [];
  readonly #turnOf = new Map<string, Turn>();
  readonly #told = new Set<string>();

  /** Notes a turn that a tab wants to save: its words by message. */
  ask(tab: string, words: Readonly<Record<string, string>>): void {
    const turn = { tab, number: this.#turns.length, words };
    this.#turns.push(turn);
    for (const id of Object.keys(words)) this.#turnOf.set(id, turn);
  }

  /** Notes that the author of these messages was told that they are saved. */
  tell(ids: readonly string[]): void {
    for (const id of ids) this.#told.add(id);
  }

  /** The problems of what was found, in words; [] for none. */
  problemsOf(found: FoundChat): string[] {
    return [...shapeProblems(found), ...this.#wordProblems(found), ...this.#orderProblems(found)];
  }

  #wordProblems({ messages, chains }: FoundChat): string[] {
    const there = new Set(messages.map(({ id }) => id));
    const reached = new Set(chains.flat());
    const told = [...this.#told];
    const halves = this.#turns.filter(({ words }) => {
      const ids = Object.keys(words);
      return ids.some((id) => there.has(id)) && !ids.every((id) => there.has(id));
    });
    return [
      ...told.filter((id) => !there.has(id)).map((id) => `lost: "${id}"`),
      ...told.filter((id) => there.has(id) && !reached.has(id)).map((id) => `out of reach: "${id}"`),
      ...halves.map(({ words }) => `half a turn: of "${Object.keys(words).join('", "')}"`),
      ...messages
        .filter(({ id, words }) => this.#turnOf.get(id)?.words[id] !== words)
        .map(({ id, words }) => `nobody's words: "${id}" says "${words}"`),
    ];
  }

  #orderProblems({ chains }: FoundChat): string[] {
    return chains.flatMap((chain) => {
      const newest = new Map<string, number>();
      return chain.flatMap((id) => {
        const { tab, number } = this.#turnOf.get(id) ?? { tab: '', number: Infinity };
        const before = newest.get(tab) ?? -1;
        newest.set(tab, number);
        return before > number ? [`out of order: "${id}"`] : [];
      });
    });
  }
}

interface Turn {
  readonly tab: string;
  /** Its place among all turns: they are asked for in this order. */
  readonly number: number;
  readonly words: Readonly<Record<string, string>>;
}

/** A chat as it is in the database. */
export interface FoundChat {
  readonly messages: readonly {
    readonly id: string;
    readonly parentId: string | null;
    readonly words: string;
  }[];
  /** The ids of each branch, the first message first. */
  readonly chains: readonly (readonly string[])[];
}

/** Problems of any chat: a message twice, a missing parent, a chain with a hole. */
function shapeProblems({ messages, chains }: FoundChat): string[] {
  const parents = new Map(messages.map(({ id, parentId }) => [id, parentId]));
  const orphans = messages.filter(({ parentId }) => parentId !== null && !parents.has(parentId));
  const holes = chains.flatMap((chain) =>
    chain.filter((id, i) => !parents.has(id) || parents.get(id) !== (chain[i - 1] ?? null)),
  );
  return [
    ...(messages.length === parents.size ? [] : ['twice: a message']),
    ...orphans.map(({ id }) => `without its parent: "${id}"`),
    ...holes.map((id) => `a hole before "${id}"`),
  ];
}

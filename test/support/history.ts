/**
 * Was anything lost? A log of requests and results is compared with what is in the database in the end.
 *
 * The log knows nothing of how a store works. Each entry has the time of its request and the time of its result, on one clock.
 * What was acknowledged before another request was made comes before it; the rest may have happened in any order. What was
 * refused did not happen. Without a result, because the tab or its connection died, a request happened or did not, but not by
 * half.
 *
 * So every acknowledged message must be there, on a branch, once, with the content of a write that no later one replaced; turns
 * of one tab must be in the order of their requests; and nothing may be there that nobody wrote.
 */
export class History {
  #clock = 0;
  readonly #entries: Entry[] = [];

  /** Notes a request; call the result with its outcome. Never called: there was no answer. */
  ask(deed: Deed, tab: string | number = 0): (outcome: Outcome) => void {
    this.#clock += 1;
    const entry: Entry = { deed, tab, from: this.#clock, to: Infinity, outcome: 'unknown' };
    this.#entries.push(entry);
    return (outcome) => {
      this.#clock += 1;
      entry.outcome = outcome;
      if (outcome !== 'unknown') entry.to = this.#clock;
    };
  }

  /** The problems of what was found, in words; [] for none. */
  check(found: readonly FoundChat[]): string[] {
    return found.flatMap((chat) => [
      ...shapeProblems(chat),
      ...this.#wordProblems(chat),
      ...this.#turnProblems(chat),
      ...this.#orderProblems(chat),
    ]);
  }

  /** The writes of each message of a chat, in the order of their requests. */
  #writesIn(chatId: string): Map<string, Write[]> {
    const writes = new Map<string, Write[]>();
    for (const entry of this.#entries) {
      if (entry.deed.chatId !== chatId) continue;
      for (const [id, words] of Object.entries(entry.deed.words)) {
        const write = { ...entry, words };
        writes.set(id, [...(writes.get(id) ?? []), write]);
      }
    }
    return writes;
  }

  #wordProblems({ chatId, messages, chains }: FoundChat): string[] {
    const reached = new Set(chains.flat());
    const there = new Map(messages.map((message) => [message.id, message]));
    const writes = this.#writesIn(chatId);
    const problems = [...writes].flatMap(([id, all]) => {
      const message = there.get(id);
      const last = newestOf(all);
      const mustBe = all.some(({ outcome }) => outcome === 'kept');
      if (!message) return mustBe ? [`lost: "${id}" of ${chatId}`] : [];
      if (mustBe && !reached.has(id)) return [`out of reach: "${id}" of ${chatId}`];
      return wrongWords(chatId, message, all, last);
    });
    const unsaid = messages.filter(({ id }) => !writes.has(id));
    return [...problems, ...unsaid.map(({ id }) => `nobody said: "${id}" of ${chatId}`)];
  }

  /**
   * A turn is there with all its messages, or not at all. A client without an answer sends the turn again, together with what
   * came since: the outcome of the first request proves nothing of the second.
   */
  #turnProblems({ chatId, messages }: FoundChat): string[] {
    const there = new Set(messages.map(({ id }) => id));
    const writes = this.#writesIn(chatId);
    const isOfOne = (id: string): boolean =>
      (writes.get(id) ?? []).filter(({ outcome }) => outcome !== 'refused').length === 1;
    return this.#entries.flatMap(({ deed, outcome }) => {
      // A refused message may be sent again with others: its content tells whether it was stored.
      if (outcome === 'refused' || deed.chatId !== chatId) return [];
      const ids = Object.keys(deed.words);
      const missing = ids.filter((id) => !there.has(id));
      const isHalf = missing.length > 0 && ids.some((id) => there.has(id) && isOfOne(id));
      return isHalf ? [`half a turn: "${missing.join('", "')}" of ${chatId} is not there`] : [];
    });
  }

  /**
   * Messages of one tab are in the order of their requests, wherever they are in one chain. A message that was sent again,
   * because there was no answer, may be stored since the first time.
   */
  #orderProblems({ chatId, chains }: FoundChat): string[] {
    const said = new Map<string, Pick<Entry, 'tab' | 'from' | 'to'>>();
    for (const { deed, tab, from, to, outcome } of this.#entries) {
      if (deed.chatId !== chatId || outcome === 'refused') continue;
      for (const id of Object.keys(deed.words)) {
        const first = said.get(id) ?? { tab, from, to };
        said.set(id, { ...first, to: Math.min(first.to, to) });
      }
    }
    return chains.flatMap((chain) => {
      const newest = new Map<string | number, Pick<Entry, 'from'>>();
      return chain.flatMap((id) => {
        const entry = said.get(id);
        if (!entry) return [];
        const before = newest.get(entry.tab);
        newest.set(entry.tab, entry);
        return before && before.from > entry.to ? [`out of order: "${id}" of ${chatId}`] : [];
      });
    });
  }
}

/** `unknown`: no answer came, or one that can't tell. */
type Outcome = 'kept' | 'refused' | 'unknown';

/** A request: messages of a turn, by id, with their content, all or none. */
interface Deed {
  readonly chatId: string;
  readonly words: Readonly<Record<string, string>>;
}

interface Entry {
  readonly deed: Deed;
  readonly tab: string | number;
  readonly from: number;
  to: number;
  outcome: Outcome;
}

interface Write extends Entry {
  readonly words: string;
}

/** A chat as it is in the database. */
export interface FoundChat {
  readonly chatId: string;
  readonly messages: readonly FoundMessage[];
  /** The ids of each branch, deleted ones too, the first message first. */
  readonly chains: readonly (readonly string[])[];
}

interface FoundMessage {
  readonly id: string;
  readonly parentId: string | null;
  readonly words: string;
}

function wrongWords(
  chatId: string,
  { id, words }: FoundMessage,
  all: readonly Write[],
  last: readonly Write[],
): string[] {
  if (!all.some((write) => write.words === words && write.outcome !== 'refused'))
    return [`nobody's words, or refused: "${id}" of ${chatId} says "${words}"`];
  if (last.some((write) => write.words === words)) return [];
  return [`old words: "${id}" of ${chatId} says "${words}"`];
}

/** The writes that no later one has replaced: one of them must be read in the end. */
function newestOf(all: readonly Write[]): Write[] {
  const valid = all.filter(({ outcome }) => outcome !== 'refused');
  return valid.filter((write) => !valid.some((later) => later.outcome === 'kept' && later.from > write.to));
}

/** Problems of any chat: a message twice, a missing parent, a chain with a hole. */
function shapeProblems({ chatId, messages, chains }: FoundChat): string[] {
  const parents = new Map(messages.map(({ id, parentId }) => [id, parentId]));
  const twice = messages.length === parents.size ? [] : [`twice: a message of ${chatId}`];
  const orphans = messages
    .filter(({ parentId }) => parentId !== null && !parents.has(parentId))
    .map(({ id }) => `without its parent: "${id}" of ${chatId}`);
  const holes = chains.flatMap((chain) =>
    chain
      .filter((id, i) => !parents.has(id) || parents.get(id) !== (chain[i - 1] ?? null))
      .map((id) => `a hole before "${id}" of ${chatId}`),
  );
  return [...twice, ...orphans, ...holes];
}

import type { UIMessage } from 'ai';
import { isContextError } from '../../src/errors.ts';
import type { ContextStore, StoreOp } from '../../src/store/store.ts';

/**
 * Was anything lost? A log of what was asked, when, and what was answered, is held against what lies in the database in
 * the end.
 *
 * The log knows nothing of how a store works. Each entry has the moment when it was asked and the moment when it was
 * told, as numbers on one clock. What was told as kept before another thing was asked comes before it; the rest may
 * have happened in any order. What was refused did not happen. Where no answer came, because the tab died or its
 * connection did, it happened or it did not, but not by half.
 *
 * So every message that was kept must be there, on a branch, once, with the words of a write that no later one
 * replaced; turns of one tab must stand in the order in which they were said; what was forgotten must not come back;
 * and nothing may be there that nobody said.
 */
export class History {
  #clock = 0;
  readonly #entries: Entry[] = [];

  /** One that goes on from another, and leaves that as it is. */
  constructor(before?: History) {
    if (!before) return;
    this.#clock = before.#clock;
    for (const entry of before.#entries) this.#entries.push({ ...entry });
  }

  /** Somebody asks for something; call the result when they are told. Never called: no answer came. */
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

  /** Does it, and notes what came of it; `outcomeOf` an error is `refused`, unless it says otherwise. */
  async log<T>(
    deed: Deed,
    tab: string | number,
    work: () => Promise<T>,
    outcomeOf: (error: unknown) => Outcome = () => 'refused',
  ): Promise<T> {
    const tell = this.ask(deed, tab);
    try {
      const result = await work();
      tell('kept');
      return result;
    } catch (error) {
      tell(outcomeOf(error));
      throw error;
    }
  }

  get entries(): readonly Readonly<Entry>[] {
    return this.#entries;
  }

  /** The messages of a chat that somebody asked to do this to, and was not refused. */
  #touched(chatId: string, does: 'settle' | 'drop' | 'continue'): Map<string, Entry[]> {
    const touched = new Map<string, Entry[]>();
    for (const entry of this.#entries) {
      const { deed, outcome } = entry;
      if (deed.does !== does || deed.chatId !== chatId || outcome === 'refused') continue;
      touched.set(deed.id, [...(touched.get(deed.id) ?? []), entry]);
    }
    return touched;
  }

  /** What is wrong with what was found, in words; [] when nothing is. */
  check(found: readonly FoundChat[]): string[] {
    return found.flatMap((chat) => [
      ...shapeProblems(chat),
      ...this.#wordProblems(chat),
      ...this.#turnProblems(chat),
      ...this.#orderProblems(chat),
    ]);
  }

  /** The writes of each message of a chat, in the order in which they were asked. */
  #writesIn(chatId: string): Map<string, Write[]> {
    const writes = new Map<string, Write[]>();
    for (const entry of this.#entries) {
      if (entry.deed.does !== 'write' || entry.deed.chatId !== chatId) continue;
      for (const [id, words] of Object.entries(entry.deed.words)) {
        const write = { ...entry, words, kind: entry.deed.kind ?? 'turn' };
        writes.set(id, [...(writes.get(id) ?? []), write]);
      }
    }
    return writes;
  }

  /** Whether a chat, or all of them, may have been forgotten after something was asked. */
  #mayBeForgotten(chatId: string, write: Entry): boolean {
    return this.#forgets(chatId).some(({ to, outcome }) => outcome !== 'refused' && to > write.from);
  }

  #forgets(chatId: string): Entry[] {
    return this.#entries.filter(
      ({ deed }) => deed.does === 'forget' && (deed.chatId === undefined || deed.chatId === chatId),
    );
  }

  #wordProblems({ chatId, messages, chains }: FoundChat): string[] {
    const reached = new Set(chains.flat());
    const there = new Map(messages.map((message) => [message.id, message]));
    const writes = this.#writesIn(chatId);
    const [settled, dropped, continued] = (['settle', 'drop', 'continue'] as const).map((does) =>
      this.#touched(chatId, does),
    ) as [Map<string, Entry[]>, Map<string, Entry[]>, Map<string, Entry[]>];
    const problems = [...writes].flatMap(([id, all]) => {
      const message = there.get(id);
      // Words that go on are not done: any of them may be the last.
      const last = continued.has(id) ? all : newestOf(all, settled.get(id) ?? []);
      // One that was taken back is gone, unless it had words by then.
      if (dropped.has(id)) return message ? this.#wrongWords(chatId, message, all, all) : [];
      // Drafts of what was forgotten are ignored.
      const mustBe = all.some(
        (write) => write.kind !== 'draft' && write.outcome === 'kept' && !this.#mayBeForgotten(chatId, write),
      );
      if (!message) return mustBe ? [`lost: "${id}" of ${chatId}`] : [];
      if (mustBe && !reached.has(id)) return [`out of reach: "${id}" of ${chatId}`];
      return this.#wrongWords(chatId, message, all, last);
    });
    const unsaid = messages.filter(({ id }) => !writes.has(id));
    return [...problems, ...unsaid.map(({ id }) => `nobody said: "${id}" of ${chatId}`)];
  }

  #wrongWords(
    chatId: string,
    { id, words }: FoundMessage,
    all: readonly Write[],
    last: readonly Write[],
  ): string[] {
    const meant = all.filter((write) => write.words === words);
    if (!meant.some(({ outcome }) => outcome !== 'refused'))
      return [`nobody's words, or refused: "${id}" of ${chatId} says "${words}"`];
    if (!last.some((write) => write.words === words))
      return [`old words: "${id}" of ${chatId} says "${words}"`];
    const isBack = this.#forgets(chatId).some(
      ({ from, outcome }) => outcome === 'kept' && meant.every(({ to }) => to < from),
    );
    return isBack && !this.#mayBeRestored(chatId) ? [`came back: "${id}" of ${chatId}`] : [];
  }

  #mayBeRestored(chatId: string): boolean {
    return this.#entries.some(({ deed }) => deed.does === 'restore' && deed.chatId === chatId);
  }

  /**
   * A turn is there with all its messages, or not at all. Who got no answer says it again, with what came since: what the
   * first call may have brought proves nothing of the second.
   */
  #turnProblems({ chatId, messages }: FoundChat): string[] {
    const there = new Set([...messages.map(({ id }) => id), ...this.#touched(chatId, 'drop').keys()]);
    const writes = this.#writesIn(chatId);
    const isOfOne = (id: string): boolean =>
      (writes.get(id) ?? []).filter(({ outcome, kind }) => outcome !== 'refused' && kind === 'turn')
        .length === 1;
    return this.#entries.flatMap(({ deed, outcome }) => {
      // What was refused may be said again with others: its words tell whether it happened.
      if (outcome === 'refused' || deed.does !== 'write') return [];
      if (deed.chatId !== chatId || (deed.kind ?? 'turn') !== 'turn') return [];
      const ids = Object.keys(deed.words);
      const missing = ids.filter((id) => !there.has(id));
      const isHalf = missing.length > 0 && ids.some((id) => there.has(id) && isOfOne(id));
      return isHalf ? [`half a turn: "${missing.join('", "')}" of ${chatId} is not there`] : [];
    });
  }

  /**
   * What one tab said first stands first, wherever both are in one chain. What was said again, because no answer came, may
   * have been there since the first time.
   */
  #orderProblems({ chatId, chains }: FoundChat): string[] {
    const said = new Map<string, Pick<Entry, 'tab' | 'from' | 'to'>>();
    for (const { deed, tab, from, to, outcome } of this.#entries) {
      if (deed.does !== 'write' || deed.chatId !== chatId || outcome === 'refused') continue;
      if ((deed.kind ?? 'turn') !== 'turn') continue;
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

/** What somebody asks for. */
type Deed =
  /**
   * Messages, by id, with their words, all or none. A `draft` is ignored once the message is settled; `end` settles it,
   * `turn` (the default) begins it.
   */
  | {
      readonly does: 'write';
      readonly chatId: string;
      readonly words: Readonly<Record<string, string>>;
      readonly kind?: 'turn' | 'draft' | 'end';
    }
  /** A chat, or all of them, with every message. */
  | { readonly does: 'forget'; readonly chatId?: string }
  | { readonly does: 'restore'; readonly chatId: string }
  /** The words that a message has are its last (`settle`), or not (`continue`); or it is taken back if it has none. */
  | { readonly does: 'settle' | 'continue' | 'drop'; readonly chatId: string; readonly id: string };

interface Entry {
  readonly deed: Deed;
  readonly tab: string | number;
  readonly from: number;
  to: number;
  outcome: Outcome;
}

interface Write extends Entry {
  readonly words: string;
  readonly kind: 'turn' | 'draft' | 'end';
}

/** A chat as it lies in the database. */
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

/** Reads what lies in a store of these chats. */
export async function findIn(store: ContextStore, chatIds: readonly string[]): Promise<FoundChat[]> {
  return Promise.all(
    chatIds.map(async (chatId) => {
      const { nodes, branches } = await store.load(chatId);
      const ids = nodes.map(({ id }) => id);
      const messages = (await store.getNodes(chatId, ids)).map(({ id, parentId, data }) => {
        return { id, parentId, words: wordsOf(data) };
      });
      const heads = branches.map(({ headMessageId }) => headMessageId ?? '');
      const chains = await Promise.all(heads.map((head) => store.getMessageChain(chatId, head)));
      return { chatId, messages, chains: chains.map((chain) => chain.map(({ id }) => id)) };
    }),
  );
}

function wordsOf({ parts }: UIMessage): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
}

/** A store that keeps a log of what a tab asks of it, and is told. */
export function logged(store: ContextStore, history: History, tab: string | number): ContextStore {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]): unknown => {
        const tells = deedsOf(String(key), args).map((deed) => history.ask(deed, tab));
        const result: unknown = value.apply(target, args);
        if (tells.length > 0)
          (result as Promise<unknown>).then(
            () => tells.forEach((tell) => tell('kept')),
            (error: unknown) => {
              const outcome = isAnswerLost(error) ? 'unknown' : 'refused';
              for (const tell of tells) tell(outcome);
            },
          );
        return result;
      };
    },
  });
}

/** What a call asks for. */
function deedsOf(call: string, [chatId, ...args]: readonly unknown[]): Deed[] {
  if (call === 'clear') return [{ does: 'forget' }];
  if (typeof chatId !== 'string') return [];
  if (call === 'deleteChat') return [{ does: 'forget', chatId }];
  if (call === 'restoreChat') return [{ does: 'restore', chatId }];
  if (call === 'saveDraft') {
    const [id, message] = args as [string, UIMessage];
    return [{ does: 'write', chatId, words: { [id]: wordsOf(message) }, kind: 'draft' }];
  }
  return call === 'append' ? deedsIn(chatId, args[0] as readonly StoreOp[]) : [];
}

function deedsIn(chatId: string, ops: readonly StoreOp[]): Deed[] {
  const said = ops.flatMap((op) => (op.op === 'insert' ? [[op.id, wordsOf(op.data)] as const] : []));
  const turn: Deed[] = said.length > 0 ? [{ does: 'write', chatId, words: Object.fromEntries(said) }] : [];
  return ops.reduce<Deed[]>((deeds, op) => {
    if (op.op === 'drop') deeds.push({ does: 'drop', chatId, id: op.id });
    if (op.op !== 'replace') return deeds;
    const { id, data, status } = op;
    if (data) deeds.push({ does: 'write', chatId, words: { [id]: wordsOf(data) }, kind: 'end' });
    deeds.push({ does: status === 'streaming' ? 'continue' : 'settle', chatId, id });
    return deeds;
  }, turn);
}

/** What no later write has replaced: those that may be what is read in the end. */
function newestOf(all: readonly Write[], settles: readonly Entry[]): Write[] {
  const valid = all.filter(({ outcome }) => outcome !== 'refused');
  const settled = valid.some(({ kind, outcome }) => kind === 'end' && outcome === 'kept')
    ? valid.filter(({ kind }) => kind === 'end')
    : valid;
  return settled.filter(
    (write) =>
      !settled.some(
        (later) =>
          later.outcome === 'kept' && later.from > write.to && isSureOf(later, [...valid, ...settles]),
      ),
  );
}

/** A draft counts only if its message was not settled before. */
function isSureOf(write: Write, all: readonly (Write | Entry)[]): boolean {
  const isEnd = (one: Write | Entry): boolean => !('kind' in one) || one.kind === 'end';
  return write.kind !== 'draft' || !all.some((one) => isEnd(one) && one.from < write.to);
}

/** What may be wrong whatever was said: twice the same message, a parent that is not there, a chain with a hole. */
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

/** Whether an error is all that came of an answer that got lost: it says nothing about what happened. */
export function isAnswerLost(error: unknown): boolean {
  return (
    isContextError(error, 'store-closed') || (isContextError(error) && error.details['mayBeSaved'] === true)
  );
}

import type { UIMessage } from 'ai';
import { isGone, recordAt, type ChatValue, type MessageRecord } from '../graph/graph.ts';
import { textOf } from '../reminded.ts';
import { createChat, join } from '../graph/join.ts';
import * as door from './door.ts';
import { reachedBy } from './reads.ts';
import { type Rest, restNow } from './rest.ts';
import { snippetOf } from './snippet.ts';
import type { ChatRecords, Readable, SearchOptions, SearchResult } from './store.ts';
import { WordIndex } from './wordIndex.ts';
import { eachWord, parseQuery, type Term } from './words.ts';

/**
 * Finding a message by its words; see `ContextStore`.
 *
 * The first search of a chat reads all of it. Its words stay in memory for a while, and each search first asks the store what
 * changed since; bodies are read again for the results only. An index in the database would cost every turn a write.
 *
 * The search covers what people read: texts and names of files, without reminders, reasoning, and inputs and outputs of tools.
 */
export async function searchMessages(
  store: Readable,
  chatId: string,
  query: unknown,
  asked?: SearchOptions,
): Promise<readonly SearchResult[]> {
  const options = door.readOptions(asked, OPTIONS);
  const terms = typeof query === 'string' ? parseQuery(query) : [];
  const limit = Math.max(options.limit ?? MOST_RESULTS, 0);
  if (terms.length === 0 || limit === 0) return [];
  const index = indexOf(store, chatId);
  await index.refresh();
  const rest = restNow();
  const best = (await index.find(terms, options, rest)).slice(0, limit);
  const records = best.map(([record]) => record);
  const bodies = await store.bodies(
    chatId,
    records.map(({ key }) => key),
    records,
  );
  const results: SearchResult[] = [];
  for (const [record, rank] of best) {
    await rest();
    const message = bodies.get(record.key)?.message;
    if (message)
      results.push({ record, message, rank, snippet: await snippetOf(readable(message), terms, rest) });
  }
  return results;
}

/** The searched chats of each store by id, the most recently searched at the end. */
const searches = new WeakMap<Readable, Map<string, ChatIndex>>();

function indexOf(store: Readable, chatId: string): ChatIndex {
  const indexes = searches.get(store) ?? new Map<string, ChatIndex>();
  searches.set(store, indexes);
  const index = indexes.get(chatId) ?? new ChatIndex(store, chatId);
  indexes.delete(chatId);
  indexes.set(chatId, index);
  for (const id of [...indexes.keys()].slice(0, -MOST_CHATS)) indexes.delete(id);
  clearTimeout(index.idle);
  index.idle = setTimeout(() => indexes.delete(chatId), IDLE);
  // A timer must not keep Node alive.
  (index.idle as { unref?: () => void }).unref?.();
  return index;
}

const MOST_RESULTS = 20;

const OPTIONS: door.Fields = { roles: 'text[]?', limit: 'count?', keys: 'set?', deleted: 'truth?' };
/** How many chats are kept in memory, and for how many ms after the last search. */
const MOST_CHATS = 4;
const IDLE = 5 * 60_000;

/** How many bodies are read at a time. */
const BATCH = 128;

/** The words of one chat, and its topology. */
class ChatIndex {
  idle: ReturnType<typeof setTimeout> | undefined;
  readonly #store: Readable;
  readonly #id: string;
  #words = new WordIndex();
  #chat: ChatValue = createChat();
  /** Messages that grow without a change number. */
  #growing: ReadonlySet<string> = new Set();
  /** The state of the database at the last read; undefined before that. */
  #read: Moment | undefined;
  #reached: ReadonlySet<string> | undefined;
  #refreshing: Promise<void> = Promise.resolve();

  constructor(store: Readable, id: string) {
    this.#store = store;
    this.#id = id;
  }

  /** Reads what changed; searches do so one after the other. */
  refresh(): Promise<void> {
    const read = (): Promise<void> => this.#update();
    this.#refreshing = this.#refreshing.then(read, read);
    return this.#refreshing;
  }

  async #update(): Promise<void> {
    const store = this.#store;
    let records = await store.load(this.#id, this.#read?.seq);
    // It is another database, or a chat was deleted or restored in it.
    if (this.#read && idOf(this.#read) !== idOf(records)) {
      this.#read = undefined;
      this.#words = new WordIndex();
      this.#chat = createChat();
      this.#growing = new Set();
      records = await store.load(this.#id);
    }
    join(this.#chat, records);
    const growing = new Set(records.growing.map(({ key }) => key));
    const keys = new Set([...this.#growing, ...growing, ...records.messages.map(({ key }) => key)]);
    const found = [...keys].map((key) => recordAt(this.#chat, key)).filter((record) => record !== undefined);
    const rest = restNow();
    for (let at = 0; at < found.length; at += BATCH) {
      const some = found.slice(at, at + BATCH);
      const keys = some.map(({ key }) => key);
      const bodies = await store.bodies(this.#id, keys, some);
      for (const key of keys) {
        const message = bodies.get(key)?.message;
        if (message) await this.#words.put(key, eachWord(readable(message)), rest);
        else this.#words.drop(key);
      }
      await rest();
    }
    if (records.seq !== this.#read?.seq) this.#reached = undefined;
    this.#growing = growing;
    this.#read = records;
  }

  /** Matching messages with their ranks, best first; of equal ones the later first. */
  async find(
    terms: readonly Term[],
    { roles, keys, deleted = false }: SearchOptions,
    rest: Rest,
  ): Promise<[record: MessageRecord, rank: number][]> {
    const { messages } = this.#chat;
    const scope = keys ?? (deleted ? messages : (this.#reached ??= reachedBy(this.#chat)));
    const isWanted = (key: string): boolean => {
      const record = recordAt(this.#chat, key);
      return !!record && !isGone(record) && (roles?.includes(record.role) ?? true) && scope.has(key);
    };
    const found: [MessageRecord, number][] = [];
    for (const [key, rank] of await this.#words.find(terms, isWanted, rest))
      found.push([recordAt(this.#chat, key) as MessageRecord, rank]);
    return found.toSorted(([a, x], [b, y]) => y - x || (b.seq ?? 0) - (a.seq ?? 0));
  }
}

type Moment = Pick<ChatRecords, 'seq' | 'database' | 'generation' | 'deleted'>;

function idOf({ database, generation, deleted }: Moment): string {
  return [database, generation, ...deleted].join(' ');
}

function readable(message: UIMessage): string {
  const names = message.parts.map((part) => (part.type === 'file' ? (part.filename ?? '') : ''));
  const text = [textOf(message), ...names].filter(Boolean).join('\n');
  return IS_COMPOSED.test(text) ? text : text.normalize('NFC');
}

/** Text before the first combining mark has nothing to compose; testing that is faster than normalising. */
const IS_COMPOSED = /^[\0-\u02ff]*$/;

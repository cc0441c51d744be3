import type { UIMessage } from 'ai';
import type { Branch, Chat, NodeInfo } from '../graph/graph.ts';
import {
  chainIds,
  createGraph,
  dropNode,
  infoOf,
  isVisible,
  putNodes,
  reachable,
  textOf,
} from '../graph/graph.ts';
import { parseQuery, type Term } from './query.ts';
import { type Rest, restNow } from './rest.ts';
import { snippetOf } from './snippet.ts';
import type { ContextStore, SearchOptions, SearchResult } from './store.ts';
import { WordIndex } from './wordIndex.ts';
import { eachWord } from './words.ts';

/**
 * Finding a message by its words.
 *
 * A person who searches types a word, looks, types on. The first search of a chat has to read it all; what follows must
 * not. So the words of a chat stay in memory for a while, and each search first asks the store what has changed since:
 * usually nothing. Bodies are read again only for the few messages that are shown. An index in the database would
 * survive a reload, and cost every turn of every chat a write, for a question that is rarely asked.
 *
 * What people read is searched: texts and the names of files, without the reminders that were folded in. Not what the
 * model thought, nor what tools were told and said: those are mostly JSON, and hits in them would be hits in nothing
 * that is on the screen.
 *
 * All of it is written over the store's contract, so it does not matter where things lie.
 */
export class MessageSearch {
  readonly #store: Source;
  /** By chat id, the one that was searched last at the end. */
  readonly #indexes = new Map<string, ChatIndex>();
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(store: Source) {
    this.#store = store;
  }

  /** Messages whose text holds what the query asks for, best first. Costs what changed since the last search. */
  async find(chatId: string, query: unknown, options: SearchOptions = {}): Promise<SearchResult[]> {
    const terms = typeof query === 'string' ? parseQuery(query) : [];
    const limit = Math.max(options.limit ?? MOST_RESULTS, 0);
    if (terms.length === 0 || limit === 0) return [];
    const index = await this.#index(chatId);
    await index?.refresh(this.#store);
    const rest = restNow();
    const ranks = (await index?.find(terms, options, rest)) ?? [];
    const best = ranks.slice(0, limit);
    const messages = await this.#store.getNodes(
      chatId,
      best.map(([id]) => id),
    );
    const rankOf = new Map(best);
    const results: SearchResult[] = [];
    for (const message of messages) {
      await rest();
      const snippet = await snippetOf(readable(message.data), terms, rest);
      results.push({ message, rank: rankOf.get(message.id) ?? 0, snippet });
    }
    return results;
  }

  /** Forgets all words; the next search reads them again. */
  letGo(): void {
    clearTimeout(this.#idle);
    this.#indexes.clear();
  }

  /** The index of a chat as it was left; undefined where there is no such chat. */
  async #index(chatId: string): Promise<ChatIndex | undefined> {
    const chat = await this.#store.getChat(chatId);
    const known = this.#indexes.get(chatId);
    this.#indexes.delete(chatId);
    if (!chat) return undefined;
    const index = known?.isOf(chat) ? known : new ChatIndex(chat);
    this.#indexes.set(chatId, index);
    for (const id of [...this.#indexes.keys()].slice(0, -MOST_CHATS)) this.#indexes.delete(id);
    this.#wait();
    return index;
  }

  #wait(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.letGo(), IDLE);
    // In Node, which runs tests and servers, a timer must not keep the process alive.
    (this.#idle as { unref?: () => void }).unref?.();
  }
}

/** What is needed of a store. */
interface Source extends Pick<ContextStore, 'getChat' | 'load' | 'getNodes'> {
  /** Messages without the bytes of their files. */
  readonly readLight: ContextStore['getNodes'];
}

const MOST_RESULTS = 20;
/** How many chats are kept in mind, and for how many ms after the last search. */
const MOST_CHATS = 4;
const IDLE = 5 * 60_000;

/** As many bodies are read at a time. */
const BATCH = 128;

/** The words of one chat, and what it takes to know which of them are on a live branch. */
class ChatIndex {
  readonly #id: string;
  readonly #born: string;
  readonly #words = new WordIndex();
  readonly #graph = createGraph();
  readonly #branches = new Map<string, Branch>();
  /** Messages that grow do so without a change number. */
  readonly #growing = new Set<string>();
  /** The change number that this is true for; undefined before the first reading. */
  #seq: number | undefined;
  #reached: ReadonlySet<string> | undefined;
  #refreshing: Promise<void> = Promise.resolve();

  constructor(chat: Chat) {
    this.#id = chat.id;
    this.#born = bornAt(chat);
  }

  /** Whether this is the chat that was read, and not a later one with its id. */
  isOf(chat: Chat): boolean {
    return this.#born === bornAt(chat);
  }

  /** Reads what changed. Searches at the same time do so one after the other: the second finds nothing to read. */
  refresh(store: Source): Promise<void> {
    const read = (): Promise<void> => this.#read(store);
    this.#refreshing = this.#refreshing.then(read, read);
    return this.#refreshing;
  }

  async #read(store: Source): Promise<void> {
    const { seq, nodes, dropped, branches } = await store.load(this.#id, this.#seq);
    for (const id of dropped) this.#drop(id);
    for (const branch of branches) this.#branches.set(branch.id, branch);
    const ids = [...new Set([...this.#growing, ...nodes.map(({ id }) => id)])];
    const rest = restNow();
    for (let at = 0; at < ids.length; at += BATCH) {
      await this.#readBodies(store, ids.slice(at, at + BATCH), rest);
      await rest();
    }
    if (seq !== this.#seq) this.#reached = undefined;
    this.#seq = seq;
  }

  async #readBodies(store: Source, ids: readonly string[], rest: Rest): Promise<void> {
    const nodes = await store.readLight(this.#id, ids);
    putNodes(this.#graph, nodes.map(infoOf));
    for (const node of nodes) {
      await this.#words.put(node.id, eachWord(readable(node.data)), rest);
      if (node.status === 'streaming') this.#growing.add(node.id);
      else this.#growing.delete(node.id);
    }
  }

  #drop(id: string): void {
    dropNode(this.#graph, id);
    this.#words.drop(id);
    this.#growing.delete(id);
  }

  /** Ids and ranks of the messages that match, best first; of equal ones the later first. */
  async find(
    terms: readonly Term[],
    options: SearchOptions,
    rest: Rest,
  ): Promise<[id: string, rank: number][]> {
    const scope = this.#scope(options);
    const infoOf = (id: string): NodeInfo | undefined => this.#graph.nodes.get(id);
    const seqOf = (id: string): number => infoOf(id)?.seq ?? 0;
    const isWanted = (id: string): boolean => {
      const info = infoOf(id);
      if (!info || !isVisible(info) || (options.roles && !options.roles.includes(info.name))) return false;
      return !scope || scope.has(id);
    };
    return [...(await this.#words.find(terms, isWanted, rest))].toSorted(
      (a, b) => b[1] - a[1] || seqOf(b[0]) - seqOf(a[0]),
    );
  }

  /** The ids that are looked at; undefined for all. */
  #scope({ branch, deleted = false }: SearchOptions): ReadonlySet<string> | undefined {
    const all = [...this.#branches.values()];
    const live = all.filter(({ deletedAt }) => deletedAt === undefined);
    // A name that is free again may have a new owner: those that are there come first.
    const open = deleted ? [...live, ...all] : live;
    if (branch !== undefined) {
      const named = open.find(({ id }) => id === branch) ?? open.find(({ name }) => name === branch);
      return new Set(chainIds(this.#graph, named?.headMessageId ?? null));
    }
    if (deleted) return undefined;
    this.#reached ??= reachable(
      this.#graph,
      open.map(({ headMessageId }) => headMessageId),
    );
    return this.#reached;
  }
}

function bornAt({ epoch, createdAt }: Chat): string {
  return `${epoch} ${createdAt}`;
}

/** What people read of a message: its own texts, and the names of its files. */
function readable(message: UIMessage): string {
  const names = message.parts.map((part) => (part.type === 'file' ? (part.filename ?? '') : ''));
  const text = [textOf(message), ...names].filter(Boolean).join('\n');
  return IS_COMPOSED.test(text) ? text : text.normalize('NFC');
}

/** There is nothing to compose below the first combining mark; to look costs a fraction of what composing does. */
const IS_COMPOSED = /^[\0-\u02ff]*$/;

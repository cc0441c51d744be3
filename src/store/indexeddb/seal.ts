import type { UIMessage } from 'ai';
import type { NodeInfo } from '../../graph/graph.ts';
import { between, BLOCK, type Table } from '../layout.ts';
import type { Rows } from '../rows.ts';
import { remade } from '../texts.ts';
import type { TopologyCache } from './cache.ts';
import { type Numbered, withoutNumber } from './changedRows.ts';
import type { Connection } from './connection.ts';
import { webLocks } from './locks.ts';
import { groupOf, Marks } from './marks.ts';
import { putBlock } from './packedRows.ts';
import {
  type Block,
  blockFrom,
  blockOf,
  blocksDue,
  decodePack,
  LARGEST_PACK,
  sealedIn,
  sizeOf,
} from './pack.ts';
import { read, write } from './transaction.ts';

/**
 * Sealing: single records become packs, later, when nobody waits.
 *
 * An append must not pay for tidiness, so it never seals. It only tells how long the chat is, and so does opening one;
 * after a while, when the browser is idle, the oldest full block of the tail is sealed, then the next one, with a pause
 * after each, so that an append that comes meanwhile waits for one block at most, a few milliseconds.
 *
 * A block is sealed in one transaction: read the records, put the packs, delete the records. It can be killed at any
 * moment; it happened, or it did not. It can be repeated, and done by several tabs at once: whoever comes second finds
 * no records. A Web Lock keeps tabs from doing the same work, where there are locks, but nothing depends on it. It is
 * not waited for the disk: a power cut takes nothing away but the sealing, because what a transaction deletes and what
 * it puts are lost or kept together. A block with a record that can't be read is left alone, and so are those behind it.
 * One of large messages is passed over: those are read best one by one, and a record that held them all would be too large
 * for a browser.
 */
export class Sealer {
  readonly #name: string;
  readonly #connection: Connection;
  readonly #cache: TopologyCache;
  /** Chats to look at, and how many blocks of each are due. */
  readonly #chats = new Map<string, number>();
  /** How many blocks were due when a chat was last found tidy. */
  readonly #tidy = new Map<string, number>();
  /** By chat, the blocks that were passed over. */
  readonly #passed = new Map<string, Set<number>>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(database: string, connection: Connection, cache: TopologyCache) {
    this.#name = `contextree:${database}:seal`;
    this.#connection = connection;
    this.#cache = cache;
  }

  /** Tells of a chat whose next message is `nextSeq`. Costs nothing until there is something to seal. */
  note(chatId: string, nextSeq: number): void {
    const due = blocksDue(nextSeq);
    if (due === 0 || this.#tidy.get(chatId) === due) return;
    this.#chats.set(chatId, due);
    this.#wait(PATIENCE);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#chats.clear();
    this.#tidy.clear();
    this.#passed.clear();
  }

  #wait(ms: number): void {
    this.#timer ??= setTimeout(() => {
      whenIdle(() => {
        this.#timer = undefined;
        void this.#sealOne();
      });
    }, ms);
    // In Node, tidiness must not keep the process alive.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  async #sealOne(): Promise<void> {
    const [next] = this.#chats;
    if (!next) return;
    const [chatId, due] = next;
    // What was refused is tried again when the chat is written or opened again.
    const found = await this.#alone(() => this.#seal(chatId)).catch(() => undefined);
    if (found === false && this.#chats.has(chatId)) this.#tidy.set(chatId, due);
    if (!found) this.#chats.delete(chatId);
    if (this.#chats.size > 0) this.#wait(PAUSE);
  }

  /** Seals one block; false when there is none, or when it was stopped: it must not open what was closed. */
  async #seal(chatId: string): Promise<boolean> {
    if (!this.#chats.has(chatId)) return false;
    const passed = this.#passed.get(chatId) ?? new Set();
    this.#passed.set(chatId, passed);
    return this.#connection.run(async (db, attempt) => {
      // Looked for apart from the writing: who saves something waits for that, and large words are long to read.
      const look = async (rows: Rows): Promise<Due | undefined> => {
        const block = await nextDue(rows, chatId, passed);
        return block === undefined ? undefined : { block, words: await wordsOf(rows, chatId, block) };
      };
      const due = await read(db, ['chats', 'nodes', 'bodies'], look, attempt);
      if (!due || !this.#chats.has(chatId)) return false;
      if (due.words)
        return write(db, SEALED, 'relaxed', (rows) => sealNext(rows, chatId, this.#cache, passed), attempt);
      passed.add(due.block);
      return true;
    });
  }

  /** Does some work unless another tab is at it. */
  async #alone(work: () => Promise<boolean>): Promise<boolean | undefined> {
    const locks = webLocks();
    if (!locks) return work();
    return locks.request(this.#name, { ifAvailable: true }, async (lock) => (lock ? work() : undefined));
  }
}

/** A block that is to be sealed, and its words; none where they are too large for that. */
interface Due {
  readonly block: number;
  readonly words: readonly UIMessage[] | undefined;
}

/** How long a chat that has something to seal waits, ms. */
const PATIENCE = 1000;

/** How long others have the database to themselves between two blocks, ms. */
const PAUSE = 20;

/** Calls back when the browser has nothing better to do; soon, where it can't tell. */
export function whenIdle(work: () => void): void {
  if (typeof requestIdleCallback === 'function') requestIdleCallback(work, { timeout: 5000 });
  else work();
}

/** The tables that sealing needs. */
export const SEALED: readonly Table[] = [
  'chats',
  'nodes',
  'bodies',
  'changes',
  'topologies',
  'packs',
  'marks',
];

/** The first block of a chat that is to be sealed and has single records, but for these; undefined when there is none. */
async function nextDue(rows: Rows, chatId: string, passed: ReadonlySet<number>): Promise<number | undefined> {
  const chat = await rows.get('chats', chatId);
  if (!chat || chat.deletedAt !== undefined) return undefined;
  const due = blocksDue(chat.nextSeq) * BLOCK;
  for (let from = 0; from < due;) {
    const [oldest] = await rows.list('nodes', between(chatId, from, due - 1), undefined, 1);
    const block = oldest && blockOf(oldest.seq);
    if (block === undefined || !passed.has(block)) return block;
    from = (block + 1) * BLOCK;
  }
  return undefined;
}

/** The words of a block's single records; undefined where they are too large to be packed, and not all of them read. */
async function wordsOf(rows: Rows, chatId: string, block: number): Promise<UIMessage[] | undefined> {
  const words: UIMessage[] = [];
  const end = (block + 1) * BLOCK;
  let size = 0;
  for (let from = block * BLOCK; from < end && size <= LARGEST_PACK; from += STRETCH) {
    const last = Math.min(from + STRETCH, end) - 1;
    const more = await rows.list('bodies', between(chatId, from, last));
    words.push(...more);
    size += sizeOf(more);
  }
  return size <= LARGEST_PACK ? words : undefined;
}

/** So many words are read at once. */
const STRETCH = 16;

/**
 * Seals the first block of a chat that is due, over the rows as they lie in the database; false when none is.
 * Records of a block that is sealed already take the place of what is in it. One that is too large is noted, to be passed
 * over, and the next one is sealed.
 */
export async function sealNext(
  rows: Rows,
  chatId: string,
  cache: TopologyCache,
  passed: Set<number> = new Set(),
): Promise<boolean> {
  const block = await nextDue(rows, chatId, passed);
  if (block === undefined) return false;
  const words = await wordsOf(rows, chatId, block);
  if (!words) {
    passed.add(block);
    return sealNext(rows, chatId, cache, passed);
  }
  const span = between(chatId, block * BLOCK, (block + 1) * BLOCK - 1);
  const [infos, known, pack, marked] = await Promise.all([
    rows.list('nodes', span),
    rows.get('topologies', [chatId, block]),
    rows.get('packs', [chatId, block]),
    rows.get('marks', [chatId, groupOf(block)]),
  ]);
  const isInOrder = words.length === infos.length && infos.every(({ id }, i) => words[i]?.id === id);
  const single = await Promise.all(
    infos.map(async (row: NodeInfo & Numbered, i) => {
      const [body, changed] = await Promise.all([
        isInOrder ? words[i] : rows.get('bodies', [chatId, row.seq]),
        row.changed ?? rows.get('changes', [chatId, 'node', row.id]).then((change) => change?.seq),
      ]);
      return { info: remade(withoutNumber(row)), body, changed: changed ?? 0 };
    }),
  );
  const before: Block | undefined =
    (known && cache.decode(known)) ?? (pack ? undefined : { chatId, block, infos: [], changed: [] });
  // What can't be read must not be packed away: it stays as it is until somebody has looked at it. Nor must words whose
  // message is not known.
  const isAllKnown = words.length === single.filter(({ body }) => body).length;
  if (!before || !isAllKnown || rows.damage?.length) return false;
  const sealed = sealedIn(before);
  for (const one of single) sealed.set(one.info.seq, one);
  const after = blockFrom(before, [...sealed.values()]);
  const ids = new Map(after.infos.map(({ id, seq }) => [id, seq % BLOCK]));
  const content = pack ? decodePack(pack, ids) : { bodies: [] };
  const bodies = [...content.bodies];
  for (const { info, body } of single) if (body) bodies[info.seq % BLOCK] = body;
  putBlock(rows, after, bodies, content.damage);
  for (const record of new Marks(chatId, marked ? [marked] : []).after([after])) rows.put('marks', record);
  rows.delete('nodes', span);
  rows.delete('bodies', span);
  for (const { id } of infos)
    rows.delete('changes', { from: [chatId, 'node', id], to: [chatId, 'node', id] });
  return true;
}

import type { UIMessage } from 'ai';
import type { NodeInfo } from '../../graph/graph.ts';
import {
  between,
  BLOCK,
  type Key,
  type Lost,
  ofChat,
  only,
  type Pack,
  type Span,
  type Table,
  type Tables,
  type Topology,
} from '../layout.ts';
import { bySeq } from '../order.ts';
import { rebuildInfos } from '../rebuild.ts';
import type { Records, Rows } from '../rows.ts';
import { runsOf } from '../runs.ts';
import type { Change } from '../store.ts';
import type { TopologyCache } from './cache.ts';
import type { Damage } from './damage.ts';
import { Marks } from './marks.ts';
import { RowChanges } from './rowChanges.ts';
import {
  type Block,
  type Bodies,
  blockFrom,
  blockOf,
  blocksDue,
  decodePack,
  encodePack,
  encodeTopology,
  keyOf,
  LARGEST_PACK,
  numberOf,
  type PackContent,
  type Sealed,
  sizeOf,
} from './pack.ts';

/**
 * Rows of which some are packed.
 *
 * What a store knows about chats is written over single rows: a topology, a body and a change for each message. In the
 * database, those of sealed messages are packed. This is the one place that knows: it answers for `nodes`, `bodies` and
 * `changes` from rows and packs alike, and hands everything else on.
 *
 * A message lies in one place, as rows or in a pack, and a block is moved from one to the other in one transaction. So
 * there is nothing in between for a reader to meet, only chats of which more or less is sealed.
 *
 * Writes to messages are collected and put at the end, by {@link flush}, because a block may have several. New messages
 * become rows, and of a sealed message its block is written anew. That is seldom, and no more than a put of 64 kB. Whole
 * blocks of an import become packs at once: a browser keeps its databases in a process of its own, which then works on one
 * block while the page puts the next together. Messages come from the newest to the oldest, so the single rows at the end
 * go first. They take a database as long as forty packs, and nobody would work beside it if they went last.
 */
export class PackedRows implements Rows {
  readonly touched: Set<string> = new Set();
  readonly #rows: Records;
  readonly #cache: TopologyCache;
  /** Sealed blocks that were met in this transaction. */
  readonly #met = new Map<string, Block>();
  /** Those of them that were found to have rows, too, which only damage can bring about. */
  readonly #mixed = new Set<string>();
  /** By chat and block, those that were asked for one by one. */
  readonly #asked = new Map<string, Promise<Block | undefined>>();
  /** By chat, what its sealed messages are found by. */
  readonly #marks = new Map<string, Promise<Marks>>();
  /** Messages that were looked up in this transaction and are rows. */
  readonly #single = new Set<string>();
  /** By chat, blocks whose topology is gone, as they are told from their words. */
  readonly #lost = new Map<string, Promise<Found>>();
  /** By chat, blocks that no mark and no key leads to. */
  readonly #unmarked = new Map<string, Promise<Found>>();
  /** By chat, the keys of its topologies. */
  readonly #keys = new Map<string, Promise<Key[]>>();
  /** The block that was read last for one of its messages. */
  #unpacked: { readonly name: string; readonly content: PackContent } | undefined;
  /** By chat and block. */
  readonly #writes = new Map<string, Map<number, Writes>>();
  /** What was written to last: mostly the next message goes there, too. */
  #last: { readonly chatId: string; readonly block: number; readonly writes: Writes } | undefined;
  /** By chat, the changes of its messages. */
  readonly #changes = new Map<string, RowChanges>();
  /** By chat, the messages of which blocks were packed at once. */
  readonly #imported = new Map<string, Import>();
  /** By chat, the blocks that were put. */
  readonly #put = new Map<string, Block[]>();

  constructor(rows: Records, cache: TopologyCache) {
    this.#rows = rows;
    this.#cache = cache;
  }

  get damage(): readonly Damage[] {
    return this.#rows.damage;
  }

  get assume(): Records['assume'] {
    return this.#rows.assume;
  }

  keys(table: 'values' | 'drafts'): Promise<Key[]> {
    return this.#rows.keys(table);
  }

  // --- Reading -----------------------------------------------------------------------------------------------------

  async get<T extends Table>(table: T, key: Key, index?: string): Promise<Tables[T] | undefined> {
    const [chatId, item] = key as [string, string & number];
    if (table === 'nodes') return (await this.#infoOf(chatId, item)) as Tables[T] | undefined;
    if (table === 'bodies') return (await this.#bodyOf(chatId, item)) as Tables[T] | undefined;
    return this.#rows.get(table, key, index);
  }

  async list<T extends Table>(table: T, span?: Span, index?: string, limit?: number): Promise<Tables[T][]> {
    if (table === 'nodes' && span) return (await this.#infosIn(rangeOf(span))) as Tables[T][];
    if (table === 'bodies' && span) return (await this.#bodiesIn(rangeOf(span))) as Tables[T][];
    if (table === 'changes' && span && index)
      return (await this.#changesIn(span, index, limit)) as Tables[T][];
    return this.#rows.list(table, span, index, limit);
  }

  lastChats(span: Span, many: number): Promise<Tables['chats'][]> {
    return this.#rows.lastChats(span, many);
  }

  async #infoOf(chatId: string, id: string): Promise<NodeInfo | undefined> {
    return (
      (await this.#toldInfoOf(chatId, id)) ??
      (await this.#unmarkedOf(chatId)).byId.get(id) ??
      (await this.#lostOf(chatId)).byId.get(id)
    );
  }

  async #toldInfoOf(chatId: string, id: string): Promise<NodeInfo | undefined> {
    const reading = this.#rows.get('nodes', [chatId, id], 'id');
    // One that was in no block when somebody last looked is mostly a row: nobody reads more before that is known.
    const isInNone = this.#cache.hasKeys === false && this.#cache.lastSeqsOf(chatId, id)?.length === 0;
    const sealed = isInNone ? undefined : this.#sealedInfoOf(chatId, id);
    sealed?.catch(() => undefined);
    const row = await reading;
    if (!row) return sealed ?? this.#sealedInfoOf(chatId, id);
    this.#single.add(nameOf(chatId, row.seq));
    return row;
  }

  async #sealedInfoOf(chatId: string, id: string): Promise<NodeInfo | undefined> {
    const [marked, keyed] = await Promise.all([
      this.#markedInfoOf(chatId, id),
      this.#keyedInfoOf(chatId, id),
    ]);
    return marked ?? keyed;
  }

  /** A message that a mark leads to: mostly it is where it was, and so it is looked for there first. */
  async #markedInfoOf(chatId: string, id: string): Promise<NodeInfo | undefined> {
    const known = await this.#findAt(chatId, this.#cache.lastSeqsOf(chatId, id) ?? [], id);
    return known ?? this.#findAt(chatId, (await this.#marksOf(chatId)).seqsOf(id), id);
  }

  async #findAt(chatId: string, seqs: readonly number[], id: string): Promise<NodeInfo | undefined> {
    const found = await Promise.all(seqs.map((seq) => this.#blockAt(chatId, blockOf(seq))));
    return find(present(found), id);
  }

  chainOf(chatId: string, headId: string, limit: number): number[] {
    return this.#cache.lastSeqsOfChain(chatId, headId, limit);
  }

  /** What the sealed messages of a chat are found by, as it was when this transaction first asked. */
  #marksOf(chatId: string): Promise<Marks> {
    return entryOf(this.#marks, chatId, async () => {
      const marks = new Marks(chatId, await this.#rows.list('marks', ofChat(chatId)));
      this.#cache.remember(chatId, marks);
      return marks;
    });
  }

  #blockAt(chatId: string, block: number): Promise<Block | undefined> {
    const name = nameOf(chatId, block);
    const met = this.#met.get(name);
    if (met) return Promise.resolve(met);
    return entryOf(this.#asked, name, async () => {
      const record = await this.#rows.get('topologies', [chatId, block]);
      return record && (await this.#meetAll([record]))[0];
    });
  }

  /** One that keys lead to. They were written by an earlier version, and where there are none, none comes. */
  async #keyedInfoOf(chatId: string, id: string): Promise<NodeInfo | undefined> {
    if (this.#cache.hasKeys === undefined) {
      const [first] = await this.#rows.list('topologies', undefined, 'id', 1);
      // One that can't be read may hide others behind it.
      this.#cache.hasKeys = first !== undefined || this.damage.length > 0;
    }
    if (!this.#cache.hasKeys) return undefined;
    const keys = [numberOf(chatId, id), keyOf(chatId, id)];
    const found = await Promise.all(keys.map((key) => this.#rows.list('topologies', only(key), 'id')));
    const ours = found.flat().filter((record) => record.chatId === chatId);
    return find(await this.#meetAll(ours), id);
  }

  async #bodyOf(chatId: string, seq: number): Promise<UIMessage | undefined> {
    const isPacked = this.#met.has(nameOf(chatId, blockOf(seq)));
    const row = isPacked ? undefined : await this.#rows.get('bodies', [chatId, seq]);
    return row ?? (await this.#contentOf(chatId, blockOf(seq))).bodies[seq % BLOCK] ?? undefined;
  }

  /** Messages that are asked for one by one mostly lie in one block, and it takes as long to read one as all of them. */
  async #contentOf(chatId: string, block: number): Promise<PackContent> {
    const name = nameOf(chatId, block);
    if (this.#unpacked?.name === name) return this.#unpacked.content;
    const pack = await this.#rows.get('packs', [chatId, block]);
    const content = pack ? this.#unpack(pack) : { bodies: [] };
    // Of what is damaged, more may be known when it is read again.
    if (!content.damage) this.#unpacked = { name, content };
    return content;
  }

  #unpack(pack: Pack): PackContent {
    const { infos = [] } = this.#met.get(nameOf(pack.chatId, pack.block)) ?? {};
    return decodePack(pack, new Map(infos.map(({ id, seq }) => [id, seq % BLOCK])));
  }

  async #infosIn({ chatId, from, to }: Range): Promise<readonly NodeInfo[]> {
    const stretches = stretchesOf(blockOf(from), blockOf(to));
    const [rows, blocks, beyond] = await Promise.all([
      this.#rows.list('nodes', between(chatId, from, to)),
      Promise.all(stretches.map((stretch) => this.#blocksIn(chatId, stretch))).then((found) => found.flat()),
      // Of what has no end, it is certain that not all will be there.
      to === Infinity ? this.#packsIn(chatId, [blockOf(from), to]) : undefined,
    ]);
    const gap = beyond ? undefined : gapIn(from, to, rows, blocks);
    const packs = beyond ?? (gap ? await this.#packsIn(chatId, gap) : []);
    const known = new Set(blocks.map(({ block }) => block));
    const isWhole = packs.every((block) => known.has(block));
    const lost = isWhole ? [] : (await this.#lostOf(chatId)).infos;
    const isAsked = ({ seq }: NodeInfo): boolean => seq >= from && seq <= to;
    // Joined in one go: ten thousand are copied in the time in which a hundred are pushed.
    const infos = NO_INFOS.concat(
      ...blocks.map((block) => (isWithin(block, from, to) ? block.infos : block.infos.filter(isAsked))),
    );
    const single = new Set(lost.length > 0 ? rows.map(({ seq }) => seq) : []);
    for (const info of lost) if (isAsked(info) && !single.has(info.seq)) infos.push(info);
    for (const { seq } of rows) this.#noteRow(nameOf(chatId, blockOf(seq)));
    const isMixed = (rows.length > 0 && infos.length > 0) || lost.length > 0;
    for (const row of rows) infos.push(row);
    return isMixed ? bySeq(infos) : infos;
  }

  /** The blocks of which there are words. */
  async #packsIn(chatId: string, [first, last]: Stretch): Promise<number[]> {
    if (this.#cache.whole.has(chatId)) return [];
    const keys = await this.#rows.keys('packs', between(chatId, first, last));
    return keys.map((key) => (key as [string, number])[1]);
  }

  async #blocksIn(chatId: string, [first, last]: Stretch): Promise<Block[]> {
    return this.#meetAll(await this.#recordsIn('topologies', chatId, [first, last]));
  }

  /** The records of blocks from one to another. A few are brought by as many requests sooner than by one for a range. */
  async #recordsIn<T extends 'topologies' | 'packs'>(
    table: T,
    chatId: string,
    [first, last]: Stretch,
  ): Promise<Tables[T][]> {
    if (last - first >= FEW) return this.#rows.list(table, between(chatId, first, last));
    const blocks = Array.from({ length: last - first + 1 }, (_, i) => first + i);
    return present(await Promise.all(blocks.map((block) => this.#rows.get(table, [chatId, block]))));
  }

  /** What is known of a message that was not met is where it was sealed. */
  async words(chatId: string, seqs: readonly number[], areMet: boolean): Promise<UIMessage[]> {
    const wanted = new Set(seqs);
    const blocks = [...new Set(seqs.map(blockOf))];
    const sealed = areMet ? blocks.filter((block) => this.#met.has(nameOf(chatId, block))) : blocks;
    const packed = new Set(sealed.filter((block) => !this.#mixed.has(nameOf(chatId, block))));
    const single = runsOf(seqs.filter((seq) => !packed.has(blockOf(seq))));
    const [rows, bodies] = await Promise.all([
      Promise.all(single.map(([first, last]) => this.#rows.list('bodies', between(chatId, first, last)))),
      Promise.all(
        // Each is parsed as it comes: all of them behind the last would be one long task.
        sealed.map(async (block) => {
          const pack = await this.#rows.get('packs', [chatId, block]);
          const all = pack ? this.#unpack(pack).bodies : [];
          const isWanted = (place: number): boolean => wanted.has(block * BLOCK + place);
          return all.filter((body, place): body is UIMessage => body !== null && isWanted(place));
        }),
      ),
    ]);
    return bodies.flat().concat(...rows);
  }

  /** Those that are sealed come first. Where a message is in both, which only damage can bring about, the row counts. */
  async #bodiesIn({ chatId, from, to }: Range): Promise<UIMessage[]> {
    const [rows, packs] = await Promise.all([
      this.#rows.list('bodies', between(chatId, from, to)),
      this.#recordsIn('packs', chatId, [blockOf(from), blockOf(to)]),
    ]);
    const packed = packs.flatMap((pack) => within(this.#unpack(pack).bodies, pack.block, from, to));
    return packed.length === 0 ? rows : packed.concat(rows);
  }

  /** Changes by their number, within a chat or everywhere; with a limit, the first ones. */
  async #changesIn(span: Span, index: string, limit: number = Infinity): Promise<Change[]> {
    if (index === 'seq' && limit < Infinity) return this.#firstChanges(span, limit);
    const isOfChat = index === 'chat';
    const from = (isOfChat ? (span.from as readonly Key[])[1] : span.from) as number;
    const [rows, records] = await Promise.all([
      this.#rows.list('changes', span, index),
      this.#rows.list('topologies', isOfChat ? span : { from, to: Infinity }, isOfChat ? 'chat' : 'last'),
    ]);
    return [...bySeq(changesFrom(await this.#meetAll(records), from).concat(rows))];
  }

  /**
   * The first so many changes from a number on. A block that begins before it and ends behind it is read in any case. Of
   * those that begin later, as many are read as it takes: what is left begins behind the last that was read.
   */
  async #firstChanges({ from, to }: Span, limit: number): Promise<Change[]> {
    const later: Span = { from, to: Infinity };
    const [rows, ending, beginning] = await Promise.all([
      this.#rows.list('changes', { from, to }, 'seq', limit),
      this.#rows.keys('topologies', later, 'last'),
      this.#rows.keys('topologies', later, 'first'),
    ]);
    const astride = await this.#recordsAt(without(ending, beginning));
    const found = rows.concat(changesFrom(await this.#meetAll(astride), from as number));
    const step = Math.ceil(limit / BLOCK) + 1;
    for (let at = 0; at < beginning.length; at += step) {
      const records = await this.#recordsAt(beginning.slice(at, at + step));
      for (const change of changesFrom(await this.#meetAll(records), from as number)) found.push(change);
      const reach = records.at(-1)?.first ?? 0;
      if (found.filter(({ seq }) => seq <= reach).length >= limit) break;
    }
    return bySeq(found).slice(0, limit);
  }

  async #recordsAt(keys: readonly Key[]): Promise<Topology[]> {
    return present(await Promise.all(keys.map((key) => this.#rows.get('topologies', key))));
  }

  /** What some records tell. Where one can't be read, its messages are told from their bodies. */
  async #meetAll(records: readonly Topology[]): Promise<Block[]> {
    const blocks = records.map((record) => this.#cache.decode(record) ?? record);
    const rebuilt = await Promise.all(
      blocks.map(async (block) => ('infos' in block ? block : this.#rebuild(block))),
    );
    return rebuilt.map((block) => this.#note(block));
  }

  #noteRow(block: string): void {
    if (this.#met.has(block)) this.#mixed.add(block);
  }

  /** One of which nothing is left is no place to write to. */
  #note(block: Block): Block {
    if (block.infos.length > 0) this.#met.set(nameOf(block.chatId, block.block), block);
    return block;
  }

  /**
   * The blocks of a chat whose topology is gone, as they are told from their words. Whether there are any is looked up by
   * the keys, for the whole chat once for each connection, and only where a message is not there that could be.
   */
  #lostOf(chatId: string): Promise<Found> {
    if (this.#cache.whole.has(chatId)) return NOTHING;
    return entryOf(this.#lost, chatId, () => this.#rebuildLost(chatId));
  }

  async #rebuildLost(chatId: string): Promise<Found> {
    const [packs, topologies] = await Promise.all([
      this.#rows.keys('packs', ofChat(chatId)),
      this.#keysOf(chatId),
    ]);
    const lost = without(packs, topologies) as (readonly [string, number])[];
    const found = new Found();
    if (lost.length === 0) {
      this.#cache.whole.add(chatId);
      return found;
    }
    const rows = new Set((await this.#rows.list('nodes', ofChat(chatId))).map(({ id }) => id));
    let last: Block | undefined;
    for (const [, block] of lost) {
      const before = last?.block === block - 1 ? last.infos.at(-1) : undefined;
      last = this.#note(await this.#unlessTold(await this.#rebuild({ chatId, block }, before), rows, found));
      found.add(last);
    }
    return found;
  }

  /** The keys of the topologies of a chat. */
  #keysOf(chatId: string): Promise<Key[]> {
    return entryOf(this.#keys, chatId, () => this.#rows.keys('topologies', ofChat(chatId)));
  }

  /** The blocks of a chat that are there, and that nothing leads to. Looked up once for each connection, too. */
  #unmarkedOf(chatId: string): Promise<Found> {
    if (this.#cache.marked.has(chatId)) return NOTHING;
    return entryOf(this.#unmarked, chatId, () => this.#findUnmarked(chatId));
  }

  async #findUnmarked(chatId: string): Promise<Found> {
    const [marks, keys] = await Promise.all([this.#marksOf(chatId), this.#keysOf(chatId)]);
    const isMarked = (block: number): boolean => marks.of(block).trim() !== '';
    const isEveryOne = (keys as [string, number][]).every(([, block]) => isMarked(block));
    // Those of earlier formats are among them, and are found by their keys.
    const records = isEveryOne ? [] : await this.#rows.list('topologies', ofChat(chatId));
    const unmarked = records.filter((record) => !isMarked(record.block) && !Array.isArray(record.keys));
    if (unmarked.length === 0) this.#cache.marked.add(chatId);
    const found = new Found();
    for (const block of await this.#meetAll(unmarked)) found.add(block);
    return found;
  }

  /** A rebuilt block without messages that are there elsewhere: it may be a copy that somebody laid there. */
  async #unlessTold(lost: Block, rows: ReadonlySet<string>, { byId }: Found): Promise<Block> {
    const isTold = async (id: string): Promise<boolean> =>
      rows.has(id) || byId.has(id) || (await this.#sealedInfoOf(lost.chatId, id)) !== undefined;
    const told = await Promise.all(lost.infos.map(({ id }) => isTold(id)));
    return { ...lost, infos: lost.infos.filter((_, i) => !told[i]) };
  }

  /** A block from its words; `lastBefore` is the message before it, where that had to be rebuilt, too. */
  async #rebuild({ chatId, block, text, lost = [] }: Unread, lastBefore?: NodeInfo): Promise<Block> {
    const [content, before] = await Promise.all([
      this.#contentOf(chatId, block),
      lastBefore ?? this.#lastBefore(chatId, block),
    ]);
    const infos = rebuildInfos(chatId, block * BLOCK, content.bodies, before);
    const damage = text === undefined ? lost : [...lost, text];
    // Of what is lost, it is not known when it was changed.
    return { chatId, block, infos, changed: [], damage };
  }

  async #lastBefore(chatId: string, block: number): Promise<NodeInfo | undefined> {
    const [record, row] = await Promise.all([
      this.#rows.get('topologies', [chatId, block - 1]),
      this.#rows.get('nodes', [chatId, block * BLOCK - 1]),
    ]);
    return (record && this.#cache.decode(record)?.infos.at(-1)) ?? row;
  }

  // --- Writing -----------------------------------------------------------------------------------------------------

  put<T extends Table>(table: T, row: Tables[T], key?: Key): void {
    if (table === 'nodes') {
      const info = row as NodeInfo;
      const write = this.#write(info.chatId, info.seq);
      write.info = info;
      write.change = this.#changes.get(info.chatId)?.take(info.id) ?? write.change;
    } else if (table === 'bodies') {
      const [chatId, seq] = key as [string, number];
      this.#write(chatId, seq).body = row as UIMessage;
      if (seq % BLOCK === 0) this.#packAhead(chatId, blockOf(seq));
    } else if (table === 'changes' && isOfMessage(row as Change)) {
      const change = row as Change;
      entryOf(this.#changes, change.chatId, newChanges).add(change);
    } else {
      if (table === 'values') this.touched.add(key as string);
      this.#rows.put(table, row, key);
    }
  }

  delete(table: Table, span?: Span): void {
    if (table === 'values' && span) this.touched.add(span.from as string);
    const [chatId, seq] = (span?.from ?? []) as [string, number?];
    if ((table === 'nodes' || table === 'bodies') && seq !== undefined)
      this.#write(chatId, seq).isDropped = true;
    else this.#rows.delete(table, span);
    if (seq !== undefined) return;
    this.#met.clear();
    this.#asked.clear();
    this.#marks.clear();
    this.#unmarked.clear();
    this.#keys.clear();
    this.#lost.clear();
    this.#single.clear();
    this.#unpacked = undefined;
  }

  #write(chatId: string, seq: number): Write {
    const block = blockOf(seq);
    if (this.#last?.block !== block || this.#last.chatId !== chatId) {
      const blocks = entryOf(this.#writes, chatId, newMap<number, Writes>);
      this.#last = { chatId, block, writes: entryOf(blocks, block, newMap<number, Write>) };
    }
    return entryOf(this.#last.writes, seq, newWrite);
  }

  /** Puts what was collected. Comes last in a transaction. */
  async flush(): Promise<void> {
    for (const [chatId, blocks] of this.#writes) await this.#flushChat(chatId, blocks);
    for (const [chatId, imported] of this.#imported) await this.#forgetChanges(chatId, imported);
    for (const [chatId, blocks] of this.#put)
      for (const record of (await this.#marksOf(chatId)).after(blocks)) this.#rows.put('marks', record);
    for (const changes of this.#changes.values())
      for (const change of changes.rest()) this.#rows.put('changes', change);
  }

  async #flushChat(chatId: string, blocks: ReadonlyMap<number, Writes>): Promise<void> {
    const due = this.#dueOf(chatId, blocks);
    for (const [block, writes] of blocks) {
      const sealed = await this.#findSealed(chatId, block, writes);
      if (sealed) {
        const [content] = await Promise.all([this.#contentOf(chatId, block), this.#marksOf(chatId)]);
        this.#putPack(sealed, content, writes);
      } else if (block < due && isPackable(writes)) this.#import(chatId, block, writes, due);
      else this.#putRows(chatId, writes);
    }
  }

  /** How many blocks of a chat are due when it has these writes, too. */
  #dueOf(chatId: string, blocks: ReadonlyMap<number, Writes>): number {
    const known = this.#imported.get(chatId);
    if (known) return known.due;
    const newest = blocks.get(Math.max(...blocks.keys())) ?? new Map<number, Write>();
    return blocksDue(Math.max(...newest.keys()) + 1);
  }

  /**
   * Packs a block that has as many messages behind it, if it is one of an import and all is known that goes into it. What
   * stays single is put before: a database takes longest for that.
   */
  #packAhead(chatId: string, block: number): void {
    const blocks = this.#writes.get(chatId);
    const writes = blocks?.get(block);
    if (!blocks || !writes || !isPackable(writes) || this.#met.has(nameOf(chatId, block))) return;
    const due = this.#dueOf(chatId, blocks);
    if (block >= due) return;
    for (const { change } of writes.values()) if (!change) return;
    for (const [other, newest] of blocks) {
      if (other < due || !areNew(newest) || this.#met.has(nameOf(chatId, other))) continue;
      this.#putRows(chatId, newest);
      blocks.delete(other);
    }
    this.#import(chatId, block, writes, due);
    this.#rows.send();
    blocks.delete(block);
    this.#last = undefined;
  }

  /** Packs a block of new messages. What is asked about them is asked once, before the first of many puts. */
  #import(chatId: string, block: number, writes: Writes, due: number): void {
    const { ids } = entryOf(this.#imported, chatId, () => this.#beginImport(chatId, due));
    for (const { info } of writes.values()) if (info) ids.push(info.id);
    this.#putPack({ chatId, block, infos: [], changed: [] }, { bodies: [] }, writes);
  }

  #beginImport(chatId: string, due: number): Import {
    const changes = this.#rows.list('changes', { from: [chatId, 'node'], to: [chatId, 'node', []] });
    // Where something throws meanwhile, nobody waits for it any more.
    for (const asked of [changes, this.#marksOf(chatId)]) asked.catch(() => undefined);
    return { ids: [], changes, due };
  }

  /** The sealed block that some writes go to. Where new messages and those found as rows go, none can be. */
  async #findSealed(chatId: string, block: number, writes: Writes): Promise<Block | undefined> {
    const met = this.#met.get(nameOf(chatId, block));
    const isKnown = ([seq, write]: [number, Write]): boolean =>
      isNew(write) || this.#single.has(nameOf(chatId, seq));
    return met || [...writes].every(isKnown) ? met : this.#blockAt(chatId, block);
  }

  #putRows(chatId: string, writes: Writes): void {
    for (const [seq, write] of writes) {
      const { info, body, isDropped } = write;
      if (isDropped) {
        this.#rows.delete('nodes', only([chatId, seq]));
        this.#rows.delete('bodies', only([chatId, seq]));
        continue;
      }
      const change = this.#changeOf(write);
      if (change) this.#rows.put('changes', change);
      if (info) this.#rows.put('nodes', info);
      if (body) this.#rows.put('bodies', body, [chatId, seq]);
    }
  }

  /** Puts a block as it is after some writes. */
  #putPack({ chatId, block, infos, changed, damage }: Block, content: PackContent, writes: Writes): void {
    const messages = Array.from<Sealed | undefined>({ length: BLOCK });
    for (const [i, info] of infos.entries()) messages[info.seq % BLOCK] = { info, changed: changed[i] ?? 0 };
    const bodies = [...content.bodies];
    for (const [seq, write] of writes) {
      const { info, body, isDropped } = write;
      const place = seq % BLOCK;
      const number = this.#changeOf(write)?.seq ?? messages[place]?.changed ?? 0;
      if (info) messages[place] = { info, changed: number };
      if (body) bodies[place] = body;
      if (!isDropped) continue;
      messages[place] = undefined;
      bodies[place] = null;
    }
    // Who writes every message of a block anew has looked at what was damaged.
    const keeps = damage && infos.some(({ seq }) => !writes.has(seq));
    const after = blockFrom({ chatId, block, ...(keeps ? { damage } : {}) }, present(messages));
    putBlock(this.#rows, after, bodies, content.damage);
    entryOf(this.#put, chatId, newList<Block>).push(after);
    this.#asked.delete(nameOf(chatId, block));
  }

  /** The change of a message, which goes with its row, or into its pack; it may have come behind the row. */
  #changeOf({ info, change }: Write): Change | undefined {
    return change ?? (info && this.#changes.get(info.chatId)?.take(info.id));
  }

  /** A message may take the id of one that was taken back, and the row that tells of that must go when it is packed. */
  async #forgetChanges(chatId: string, { ids, changes }: Import): Promise<void> {
    const rows = await changes;
    const imported = new Set(rows.length > 0 ? ids : []);
    for (const { id } of rows) if (imported.has(id)) this.#rows.delete('changes', only([chatId, 'node', id]));
  }
}

/** Puts a sealed block, with its bodies and what is `lost` of them; nothing is left of one without messages. */
export function putBlock(rows: Rows, block: Block, bodies: Bodies, lost: Lost | undefined): void {
  const key = only([block.chatId, block.block]);
  if (block.infos.length === 0 && !lost) {
    rows.delete('topologies', key);
    rows.delete('packs', key);
  } else {
    rows.put('topologies', encodeTopology(block));
    rows.put('packs', encodePack(block.chatId, block.block, bodies, lost));
  }
}

/** Blocks from one to another, both included. */
type Stretch = readonly [first: number, last: number];

/** So few blocks are asked for one by one. */
const FEW = 8;

/** So many blocks are asked for at once: while some come, those before them are made sense of. */
const STRETCH = 16;

function stretchesOf(first: number, last: number): Stretch[] {
  if (last === Infinity) return [[first, last]];
  return Array.from({ length: Math.ceil((last - first + 1) / STRETCH) }, (_, i) => {
    const from = first + i * STRETCH;
    return [from, Math.min(from + STRETCH - 1, last)];
  });
}

/**
 * From which block to which some messages were not found that could be there: rows that lack may have been dropped, or lie
 * in a block whose topology is gone.
 */
function gapIn(
  from: number,
  to: number,
  rows: readonly NodeInfo[],
  blocks: readonly Block[],
): Stretch | undefined {
  const isFound = new Set(blocks.map(({ block }) => block));
  const single = new Map<number, number>();
  for (const { seq } of rows) single.set(blockOf(seq), (single.get(blockOf(seq)) ?? 0) + 1);
  const lacking: number[] = [];
  for (let block = blockOf(from); block <= blockOf(to); block += 1) {
    const many = Math.min(to, block * BLOCK + BLOCK - 1) - Math.max(from, block * BLOCK) + 1;
    if (!isFound.has(block) && (single.get(block) ?? 0) < many) lacking.push(block);
  }
  const [first] = lacking;
  return first === undefined ? undefined : [first, lacking.at(-1) ?? first];
}

/** Whether all messages of a block lie between two. */
function isWithin({ block }: Block, from: number, to: number): boolean {
  return block * BLOCK >= from && block * BLOCK + BLOCK - 1 <= to;
}

/** What is left of the topology of a block that can't be read. */
type Unread = Pick<Topology, 'chatId' | 'block'> & Partial<Topology>;

/** The messages of blocks that nothing leads to. Of two with one id, the first counts. */
class Found {
  readonly infos: NodeInfo[] = [];
  readonly byId: Map<string, NodeInfo> = new Map();

  add({ infos }: Block): void {
    for (const info of infos) {
      this.infos.push(info);
      if (!this.byId.has(info.id)) this.byId.set(info.id, info);
    }
  }
}

const NO_INFOS: readonly NodeInfo[] = [];

const NOTHING: Promise<Found> = Promise.resolve(new Found());

function present<T>(things: readonly (T | undefined)[]): T[] {
  return things.filter((thing) => thing !== undefined);
}

function find(blocks: readonly Block[], id: string): NodeInfo | undefined {
  for (const { infos } of blocks) for (const info of infos) if (info.id === id) return info;
  return undefined;
}

/** Keys that are not among others. */
function without(keys: readonly Key[], others: readonly Key[]): Key[] {
  const known = new Set(others.map((key) => JSON.stringify(key)));
  return keys.filter((key) => !known.has(JSON.stringify(key)));
}

/** What is to be written of one message. */
interface Write {
  info: NodeInfo | undefined;
  body: UIMessage | undefined;
  change: Change | undefined;
  isDropped: boolean;
}

/** By `seq`. */
type Writes = Map<number, Write>;

/**
 * The messages of a chat that were packed at once, the rows that tell of changes of its messages, and how many of its
 * blocks are due.
 */
interface Import {
  readonly ids: string[];
  readonly changes: Promise<readonly Change[]>;
  readonly due: number;
}

/** What a map has under a key; made where there is nothing. */
function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function newMap<K, V>(): Map<K, V> {
  return new Map<K, V>();
}

function newChanges(): RowChanges {
  return new RowChanges();
}

function newList<T>(): T[] {
  return [];
}

function newWrite(): Write {
  return { info: undefined, body: undefined, change: undefined, isDropped: false };
}

/** Seqs of a chat, both ends included. */
interface Range {
  readonly chatId: string;
  readonly from: number;
  readonly to: number;
}

function rangeOf({ from, to }: Span): Range {
  const [chatId, first = 0] = from as readonly [string, number?];
  const last = (to as readonly Key[])[1];
  return { chatId, from: first, to: typeof last === 'number' ? last : Infinity };
}

function nameOf(chatId: string, item: string | number): string {
  return keyOf(chatId, String(item));
}

/** Whether a message is written for the first time, and whole. */
function isNew({ info, body }: Write): boolean {
  return info?.rev === 1 && body !== undefined;
}

/** Whether all these messages are written for the first time. */
function areNew(writes: Writes): boolean {
  for (const write of writes.values()) if (!isNew(write)) return false;
  return true;
}

/** Whether a block can be packed at once: every message of it is written for the first time, and there is room for all. */
function isPackable(writes: Writes): boolean {
  return writes.size === BLOCK && areNew(writes) && sizeOf(bodiesOf(writes)) <= LARGEST_PACK;
}

function* bodiesOf(writes: Writes): Iterable<UIMessage | undefined> {
  for (const { body } of writes.values()) yield body;
}

function isOfMessage({ kind, op }: Change): boolean {
  return kind === 'node' && op === 'put';
}

function changesFrom(blocks: readonly Block[], from: number): Change[] {
  return blocks.flatMap(({ infos, changed }) =>
    infos.flatMap((info, i) => {
      const number = changed[i] ?? 0;
      return number >= from ? [changeOf(info, number)] : [];
    }),
  );
}

function changeOf({ chatId, id, rev }: NodeInfo, seq: number): Change {
  return { seq, kind: 'node', op: 'put', chatId, id, rev };
}

function within(bodies: Bodies, block: number, from: number, to: number): UIMessage[] {
  const first = block * BLOCK;
  return bodies.filter(
    (body, place): body is UIMessage => body !== null && first + place >= from && first + place <= to,
  );
}

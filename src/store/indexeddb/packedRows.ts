import type { UIMessage } from 'ai';
import type { NodeInfo } from '../../graph/graph.ts';
import { between, BLOCK, type Key, only, type Pack, type Span, type Table, type Tables } from '../layout.ts';
import type { Rows } from '../rows.ts';
import type { Change } from '../store.ts';
import type { TopologyCache } from './cache.ts';
import {
  type Block,
  type Bodies,
  blockOf,
  blocksDue,
  decodePack,
  encodePack,
  encodeTopology,
  keyOf,
  type Sealed,
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
 * become rows, whole blocks of an import become packs at once, and of a sealed message its block is written anew. That
 * is seldom, and no more than a put of 64 kB.
 */
export class PackedRows implements Rows {
  readonly #rows: Rows;
  readonly #cache: TopologyCache;
  /** Sealed blocks that were met in this transaction. */
  readonly #met = new Map<string, Block>();
  /** Messages that were looked up in this transaction and are rows. */
  readonly #single = new Set<string>();
  readonly #writes = new Map<string, Map<number, Write>>();
  readonly #changes = new Map<string, Change>();

  constructor(rows: Rows, cache: TopologyCache) {
    this.#rows = rows;
    this.#cache = cache;
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

  async #infoOf(chatId: string, id: string): Promise<NodeInfo | undefined> {
    const [row, record] = await Promise.all([
      this.#rows.get('nodes', [chatId, id], 'id'),
      this.#rows.get('topologies', keyOf(chatId, id), 'id'),
    ]);
    if (row) this.#single.add(nameOf(chatId, row.seq));
    return row ?? (record && this.#meet(record).sealed.find(({ info }) => info.id === id)?.info);
  }

  async #bodyOf(chatId: string, seq: number): Promise<UIMessage | undefined> {
    const isPacked = this.#met.has(nameOf(chatId, blockOf(seq)));
    const row = isPacked ? undefined : await this.#rows.get('bodies', [chatId, seq]);
    return row ?? (await this.#bodiesOf(chatId, blockOf(seq)))[seq % BLOCK] ?? undefined;
  }

  async #bodiesOf(chatId: string, block: number): Promise<Bodies> {
    const pack = await this.#rows.get('packs', [chatId, block]);
    return pack ? decodePack(pack) : [];
  }

  async #infosIn({ chatId, from, to }: Range): Promise<NodeInfo[]> {
    const [rows, records] = await Promise.all([
      this.#rows.list('nodes', between(chatId, from, to)),
      this.#rows.list('topologies', between(chatId, blockOf(from), blockOf(to))),
    ]);
    const packed = records.flatMap((record) => this.#meet(record).sealed.map(({ info }) => info));
    const infos = packed.filter(({ seq }) => seq >= from && seq <= to).concat(rows);
    return rows.length === 0 || packed.length === 0 ? infos : infos.toSorted((a, b) => a.seq - b.seq);
  }

  async #bodiesIn({ chatId, from, to }: Range): Promise<UIMessage[]> {
    const [rows, packs] = await Promise.all([
      this.#rows.list('bodies', between(chatId, from, to)),
      this.#rows.list('packs', between(chatId, blockOf(from), blockOf(to))),
    ]);
    if (packs.length === 0) return rows;
    const packed = packs.map((pack) => ({ seq: pack.block * BLOCK, bodies: bodiesWithin(pack, from, to) }));
    const gaps = rows.length === 0 ? [] : gapsBetween(packs, from, to);
    const loose = gaps.length === 1 ? [rows] : await this.#rowsIn(chatId, gaps);
    return [...packed, ...gaps.map((gap, i) => ({ seq: gap.from, bodies: loose[i] ?? [] }))]
      .toSorted((a, b) => a.seq - b.seq)
      .flatMap(({ bodies }) => bodies);
  }

  /** The bodies of rows come without their seqs, so where packs lie between them, each gap is read by itself. */
  #rowsIn(chatId: string, gaps: readonly { from: number; to: number }[]): Promise<UIMessage[][]> {
    return Promise.all(gaps.map(({ from, to }) => this.#rows.list('bodies', between(chatId, from, to))));
  }

  /** Changes by their number, within a chat or everywhere. Of packs, all are read that hold one; of rows, the first. */
  async #changesIn(span: Span, index: string, limit: number = Infinity): Promise<Change[]> {
    const isOfChat = index === 'chat';
    const from = isOfChat ? (span.from as readonly number[])[1] : span.from;
    const later: Span = isOfChat ? span : { from: span.from, to: Infinity };
    const [rows, records] = await Promise.all([
      this.#rows.list('changes', span, index, limit === Infinity ? undefined : limit),
      this.#rows.list('topologies', later, isOfChat ? 'chat' : 'last'),
    ]);
    const packed = records
      .flatMap((record) => this.#meet(record).sealed)
      .filter(({ changed }) => changed >= (from as number))
      .map(changeOf);
    return packed
      .concat(rows)
      .toSorted((a, b) => a.seq - b.seq)
      .slice(0, limit);
  }

  #meet(record: Tables['topologies']): Block {
    const block = this.#cache.decode(record);
    this.#met.set(nameOf(block.chatId, block.block), block);
    return block;
  }

  // --- Writing -----------------------------------------------------------------------------------------------------

  put<T extends Table>(table: T, row: Tables[T], key?: Key): void {
    if (table === 'nodes') {
      const info = row as NodeInfo;
      this.#write(info.chatId, info.seq).info = info;
    } else if (table === 'bodies') {
      const [chatId, seq] = key as [string, number];
      this.#write(chatId, seq).body = row as UIMessage;
    } else if (table === 'changes' && isOfMessage(row as Change)) {
      const change = row as Change;
      this.#changes.set(nameOf(change.chatId, change.id), change);
    } else {
      this.#rows.put(table, row, key);
    }
  }

  delete(table: Table, span?: Span): void {
    const [chatId, seq] = (span?.from ?? []) as [string, number?];
    if ((table === 'nodes' || table === 'bodies') && seq !== undefined)
      this.#write(chatId, seq).isDropped = true;
    else this.#rows.delete(table, span);
    if (seq !== undefined) return;
    this.#met.clear();
    this.#single.clear();
  }

  end(): void {
    this.#rows.end();
  }

  #write(chatId: string, seq: number): Write {
    const writes = this.#writes.get(chatId) ?? new Map<number, Write>();
    this.#writes.set(chatId, writes);
    const write = writes.get(seq) ?? {};
    writes.set(seq, write);
    return write;
  }

  /** Puts what was collected. Comes last in a transaction. */
  async flush(): Promise<void> {
    for (const [chatId, writes] of this.#writes) await this.#flushChat(chatId, writes);
    for (const change of this.#changes.values()) this.#rows.put('changes', change);
  }

  async #flushChat(chatId: string, writes: Writes): Promise<void> {
    const due = blocksDue(Math.max(...writes.keys()) + 1);
    const imported: Writes[] = [];
    for (const [block, ofBlock] of byBlock(writes)) {
      const sealed = await this.#findSealed(chatId, block, ofBlock);
      const isWhole = ofBlock.size === BLOCK && block < due && [...ofBlock.values()].every(isNew);
      if (sealed) {
        this.#putPack(sealed, await this.#bodiesOf(chatId, block), ofBlock);
      } else if (isWhole) {
        this.#putPack({ chatId, block, sealed: [] }, [], ofBlock);
        imported.push(ofBlock);
      } else {
        for (const [seq, write] of ofBlock) this.#putRows(chatId, seq, write);
      }
    }
    if (imported.length > 0) await this.#forgetChanges(chatId, imported);
  }

  /** The sealed block that some writes go to. Where new messages and those found as rows go, none can be. */
  async #findSealed(chatId: string, block: number, writes: Writes): Promise<Block | undefined> {
    const met = this.#met.get(nameOf(chatId, block));
    const isKnown = ([seq, write]: [number, Write]): boolean =>
      isNew(write) || this.#single.has(nameOf(chatId, seq));
    if (met || [...writes].every(isKnown)) return met;
    const record = await this.#rows.get('topologies', [chatId, block]);
    return record && this.#meet(record);
  }

  #putRows(chatId: string, seq: number, { info, body, isDropped }: Write): void {
    if (info) this.#rows.put('nodes', info);
    if (body) this.#rows.put('bodies', body, [chatId, seq]);
    if (!isDropped) return;
    this.#rows.delete('nodes', only([chatId, seq]));
    this.#rows.delete('bodies', only([chatId, seq]));
  }

  /** Puts a block as it is after some writes. */
  #putPack({ chatId, block, sealed }: Block, bodies: Bodies, writes: Writes): void {
    const bySeq = new Map(sealed.map((one) => [one.info.seq, one]));
    const bodyBySeq = new Map(bodies.flatMap((body, place) => (body ? [[block * BLOCK + place, body]] : [])));
    for (const [seq, { info, body, isDropped }] of writes) {
      if (info) bySeq.set(seq, { info, changed: this.#takeChange(info) ?? bySeq.get(seq)?.changed ?? 0 });
      if (body) bodyBySeq.set(seq, body);
      if (!isDropped) continue;
      bySeq.delete(seq);
      bodyBySeq.delete(seq);
    }
    putBlock(this.#rows, { chatId, block, sealed: [...bySeq.values()] }, bodyBySeq);
  }

  /** The number of a message's change, which goes into its pack instead of a row. */
  #takeChange({ chatId, id }: NodeInfo): number | undefined {
    const change = this.#changes.get(nameOf(chatId, id));
    this.#changes.delete(nameOf(chatId, id));
    return change?.seq;
  }

  /** A message may take the id of one that was taken back, and the row that tells of that must go when it is packed. */
  async #forgetChanges(chatId: string, imported: readonly Writes[]): Promise<void> {
    const ids = new Set(imported.flatMap((writes) => [...writes.values()].map(({ info }) => info?.id)));
    const rows = await this.#rows.list('changes', { from: [chatId, 'node'], to: [chatId, 'node', []] });
    for (const { id } of rows) if (ids.has(id)) this.#rows.delete('changes', only([chatId, 'node', id]));
  }
}

/** Puts a sealed block, in the order of `seq`; nothing is left of one without messages. */
export function putBlock(rows: Rows, block: Block, bodies: ReadonlyMap<number, UIMessage>): void {
  const sealed = block.sealed.toSorted((a, b) => a.info.seq - b.info.seq);
  const key = only([block.chatId, block.block]);
  if (sealed.length === 0) {
    rows.delete('topologies', key);
    rows.delete('packs', key);
  } else {
    rows.put('topologies', encodeTopology({ ...block, sealed }));
    rows.put('packs', encodePack(block.chatId, block.block, bodies));
  }
}

/** What is to be written of one message. */
interface Write {
  info?: NodeInfo;
  body?: UIMessage;
  isDropped?: boolean;
}

type Writes = ReadonlyMap<number, Write>;

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

function byBlock(writes: Writes): Map<number, Map<number, Write>> {
  const blocks = new Map<number, Map<number, Write>>();
  for (const [seq, write] of writes) {
    const block = blocks.get(blockOf(seq)) ?? new Map<number, Write>();
    blocks.set(blockOf(seq), block.set(seq, write));
  }
  return blocks;
}

/** Whether a message is written for the first time, and whole. */
function isNew({ info, body }: Write): boolean {
  return info?.rev === 1 && body !== undefined;
}

function isOfMessage({ kind, op }: Change): boolean {
  return kind === 'node' && op === 'put';
}

function changeOf({ info: { chatId, id, rev }, changed }: Sealed): Change {
  return { seq: changed, kind: 'node', op: 'put', chatId, id, rev };
}

function bodiesWithin(pack: Pack, from: number, to: number): UIMessage[] {
  const first = pack.block * BLOCK;
  return decodePack(pack).filter(
    (body, place): body is UIMessage => body !== null && first + place >= from && first + place <= to,
  );
}

/** The seqs between some packs, within a range. */
function gapsBetween(packs: readonly Pack[], from: number, to: number): { from: number; to: number }[] {
  const starts = [from, ...packs.map(({ block }) => (block + 1) * BLOCK)];
  const ends = [...packs.map(({ block }) => block * BLOCK - 1), to];
  return starts.map((start, i) => ({ from: start, to: ends[i] ?? to })).filter((gap) => gap.from <= gap.to);
}

import type { NodeInfo } from '../../graph/graph.ts';
import { BLOCK, type Topology } from '../layout.ts';
import type { Marks } from './marks.ts';
import { type Block, blockOf, decodeTopology, keyOf } from './pack.ts';

/**
 * Topologies that were decoded, so that a chat that is read again is not decoded again.
 *
 * A cache of what other tabs can change has to be told of changes, and a tab that slept was not told. So this one is
 * never asked what is there, only where to look for it. The database is: each read fetches the record, which is small and
 * has a stamp that is new with each writing; only if that stamp was met before, the work of decoding is spared, and the
 * messages are the same objects as before. What is in here can therefore be old, but never wrong.
 *
 * Bodies are not kept here. The engine keeps those that it shows, by id and revision, and asks only for what it lacks.
 */
export class TopologyCache {
  /** The one used last is last. */
  readonly #blocks = new Map<string, Known>();
  /** Whether there are blocks of earlier formats, which are found by keys; undefined until someone has looked. */
  hasKeys: boolean | undefined;
  /** Chats in which someone has looked for blocks whose topology is gone and whose words are there, and found none. */
  readonly whole: Set<string> = new Set();
  /** Chats in which someone has looked for blocks that are not marked, and found none. */
  readonly marked: Set<string> = new Set();
  /** By chat, the marks that were read last: where a message was then is where it is looked for first. */
  readonly #marks = new Map<string, Marks>();

  /** Forgets what was found out of the database: this is another connection, and it may be another one. */
  reset(): void {
    this.hasKeys = undefined;
    this.whole.clear();
    this.marked.clear();
    this.#marks.clear();
  }

  /** The places where a message may have been when the marks of its chat were last read; undefined where none were. */
  lastSeqsOf(chatId: string, id: string): readonly number[] | undefined {
    return this.#marks.get(chatId)?.seqsOf(id);
  }

  /** Remembers the marks of a chat. */
  remember(chatId: string, marks: Marks): void {
    this.#marks.delete(chatId);
    this.#marks.set(chatId, marks);
    if (this.#marks.size > CHATS) this.#marks.delete(this.#marks.keys().next().value ?? '');
  }

  /** The block that a record keeps; undefined where that can't be told. */
  decode(record: Topology): Block | undefined {
    const { chatId, block, stamp } = record;
    const name = keyOf(chatId, String(block));
    const known = this.#blocks.get(name);
    const decoded = known && known.stamp === stamp ? known.block : decodeTopology(record);
    if (!decoded) return undefined;
    this.#blocks.delete(name);
    this.#blocks.set(name, { stamp, block: decoded });
    if (this.#blocks.size > LIMIT) this.#blocks.delete(this.#blocks.keys().next().value ?? '');
    return decoded;
  }

  /**
   * Where the messages from a head towards the root lay when their blocks were last read, the head first, up to the first
   * whose block is not here. Where that is the head's own, the place where it was marked.
   */
  lastSeqsOfChain(chatId: string, headId: string, limit: number): number[] {
    const seqs: number[] = [];
    let near: Block | undefined;
    const find = (id: string, seq: number): NodeInfo | undefined => {
      const block = blockOf(seq);
      if (near?.block !== block) near = this.#blocks.get(keyOf(chatId, String(block)))?.block;
      return near && infoAt(near.infos, id, seq);
    };
    let end = Infinity;
    for (let id: string | null = headId; id !== null && seqs.length < limit;) {
      let info = find(id, end - 1);
      // Marks are many, and only a chain that jumps needs them.
      if (!info) for (const seq of this.lastSeqsOf(chatId, id) ?? []) info ??= find(id, seq);
      // A parent lies before its children. Where damage says something else, the chain may be a ring.
      if (!info || info.seq >= end) break;
      seqs.push(info.seq);
      id = info.parentId;
      end = info.seq;
    }
    return seqs.length > 0 ? seqs : (this.lastSeqsOf(chatId, headId) ?? []).slice(0, 1);
  }
}

/** How many blocks are kept: the shape of 65,536 messages, some 30 MB. */
const LIMIT = 1024;

/** Of so many chats the marks are kept: some megabytes where they are long and much was looked for. */
const CHATS = 4;

/** A block, and the stamp of the record that it was decoded from. */
interface Known {
  readonly stamp: string;
  readonly block: Block;
}

/** The message of a block that has this id and lies in this place. */
function infoAt(infos: readonly NodeInfo[], id: string, seq: number): NodeInfo | undefined {
  const info = infos.length === BLOCK ? infos[seq % BLOCK] : infos.find((each) => each.seq === seq);
  return info?.id === id && info.seq === seq ? info : undefined;
}

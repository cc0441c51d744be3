import type { Topology } from '../layout.ts';
import { type Block, decodeTopology } from './pack.ts';

/**
 * Topologies that were decoded, so that a chat that is read again is not decoded again.
 *
 * A cache of what other tabs can change has to be told of changes, and a tab that slept was not told. So this one is
 * never asked what is there. The database is: each read fetches the record, which is small and has a stamp that is new
 * with each writing; only if that stamp was met before, the work of decoding is spared, and the messages are the same
 * objects as before. What is in here can therefore be old, but never wrong.
 *
 * Bodies are not kept here. The engine keeps those that it shows, by id and revision, and asks only for what it lacks.
 */
export class TopologyCache {
  /** The one used last is last. */
  readonly #blocks = new Map<string, Block>();
  /** Whether there are blocks of format 2, which are found by texts; undefined until someone has looked. */
  hasTexts: boolean | undefined;
  /** Chats in which someone has looked for blocks whose topology is gone and whose words are there, and found none. */
  readonly whole: Set<string> = new Set();

  /** The block that a record keeps; undefined where that can't be told. */
  decode(record: Topology): Block | undefined {
    const block = this.#blocks.get(record.stamp) ?? decodeTopology(record);
    if (block?.chatId !== record.chatId || block.block !== record.block) return undefined;
    this.#blocks.delete(record.stamp);
    this.#blocks.set(record.stamp, block);
    if (this.#blocks.size > LIMIT) this.#blocks.delete(this.#blocks.keys().next().value ?? '');
    return block;
  }
}

/** How many blocks are kept: the shape of 65,536 messages, some 30 MB. */
const LIMIT = 1024;

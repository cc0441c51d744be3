import { BLOCK, GROUP, type MarkRecord } from '../layout.ts';
import { sumOf } from '../sum.ts';
import type { Block } from './pack.ts';

/**
 * What sealed messages are found by.
 *
 * An index has an entry for each message, with all that it takes to find the record: 114 bytes on the disk, and a fifth
 * of the time of an import. But nobody asks for a range of ids, or in which order they come. So each message has a mark,
 * four characters made of its id, and a chat has a text of them, in the order of `seq`, cut where a record would become
 * large. Who looks for an id reads the marks of its chat, and finds in the text in which block it may lie. Few messages
 * share a mark, and the block tells which of them it is.
 *
 * So nothing depends on a mark that is there too much: it leads to a block that has no such message. One that lacks would
 * make a message unknown, and its id free. Therefore marks are written with their block, in one transaction; a record
 * that does not have its sum counts as not there; and before an id is taken for unknown it is looked up, once for each
 * connection and chat, that every block is marked. Those that are not are read.
 */
export class Marks {
  readonly #chatId: string;
  readonly #records: readonly MarkRecord[];
  /** The texts that have their sum, by group. */
  #texts: ReadonlyMap<number, string> | undefined;
  #asked = 0;
  /** By mark, the places that have it; made for who looks for many. */
  #seqs: Map<string, readonly number[]> | undefined;

  /** The marks that these records of a chat keep. */
  constructor(chatId: string, records: readonly MarkRecord[]) {
    this.#chatId = chatId;
    this.#records = records.filter(({ text }) => typeof text === 'string');
  }

  /** The places where a message may lie. Whoever looks there sees whether it does, so nobody asks for sums here. */
  seqsOf(id: string): readonly number[] {
    const mark = markOf(id);
    this.#asked += 1;
    if (this.#asked > MANY) return (this.#seqs ??= this.#byMark()).get(mark) ?? [];
    const found: number[] = [];
    for (const { group, text } of this.#records)
      for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1))
        if (at % WIDTH === 0) found.push(group * GROUP * BLOCK + at / WIDTH);
    return found;
  }

  #byMark(): Map<string, readonly number[]> {
    const seqs = new Map<string, readonly number[]>();
    for (const { group, text } of this.#records) {
      for (let at = 0; at < text.length; at += WIDTH) {
        const mark = text.slice(at, at + WIDTH);
        if (mark === NONE) continue;
        const others = seqs.get(mark) ?? [];
        seqs.set(mark, [...others, group * GROUP * BLOCK + at / WIDTH]);
      }
    }
    return seqs;
  }

  /** The marks of a block; blank where nothing in it is marked. */
  of(block: number): string {
    const from = (block % GROUP) * LENGTH;
    return this.#textOf(groupOf(block))
      .slice(from, from + LENGTH)
      .padEnd(LENGTH);
  }

  #textOf(group: number): string {
    this.#texts ??= new Map(this.#records.filter(isAsWritten).map((record) => [record.group, record.text]));
    return this.#texts.get(group) ?? '';
  }

  /** The records that change when these blocks are written. */
  after(blocks: readonly Block[]): MarkRecord[] {
    const written = new Map(blocks.map((block) => [block.block, marksOf(block)]));
    const records = [...new Set([...written.keys()].map(groupOf))].map((group) => {
      const first = group * GROUP;
      const before = this.#textOf(group).length / LENGTH;
      const own = [...written.keys()].filter((block) => groupOf(block) === group);
      const length = Math.max(before, ...own.map((block) => block - first + 1));
      const places = Array.from({ length }, (_, i) => first + i);
      const text = places.map((block) => written.get(block) ?? this.of(block)).join('');
      return { chatId: this.#chatId, group, text, sum: sumOfMarks(this.#chatId, group, text) };
    });
    return records.filter(({ group, text }) => text !== this.#textOf(group));
  }
}

/** How many characters a mark has. */
const WIDTH = 4;

/** In place of a mark where there is no message. */
const NONE: string = ' '.repeat(WIDTH);

/** How many characters the marks of a block have. */
const LENGTH: number = BLOCK * WIDTH;

/** Whoever looks for so many has a list made, which takes as long as to look so often. */
const MANY = 64;

/** The group of a block. */
export function groupOf(block: number): number {
  return Math.floor(block / GROUP);
}

/** The marks of a block's messages, in their places. */
export function marksOf({ infos }: Pick<Block, 'infos'>): string {
  const marks = Array.from({ length: BLOCK }, () => NONE);
  for (const { seq, id } of infos) marks[seq % BLOCK] = markOf(id);
  return marks.join('');
}

function markOf(id: unknown): string {
  // In a damaged block, an id may be anything.
  const sum = sumOf(String(id));
  const short = sum ^ (sum >>> 24);
  return pairOf((short >>> 12) & 0xfff) + pairOf(short & 0xfff);
}

/** Twelve bits as two characters, none of which is a blank. */
function pairOf(bits: number): string {
  return (pairs[bits] ??= String.fromCharCode(FIRST + (bits >> 6), FIRST + (bits & 63)));
}

const FIRST = '0'.charCodeAt(0);
const pairs = Array.from<string | undefined>({ length: 0x1000 });

function isAsWritten({ chatId, group, text, sum }: MarkRecord): boolean {
  return sum === sumOfMarks(chatId, group, text);
}

function sumOfMarks(chatId: string, group: number, text: string): number {
  return sumOf(text, sumOf(`${chatId} ${group} `));
}

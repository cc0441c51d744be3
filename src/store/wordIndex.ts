import type { Term } from './query.ts';
import { type Rest, STRETCH } from './rest.ts';

/**
 * Texts as rows of numbers.
 *
 * Every word gets a number, and a text is the numbers of its words in their order. Looking for something is then one
 * pass over plain integers: ten thousand messages of a kilobyte are a million and a half of them, a few milliseconds.
 * The usual index, lists of texts by word, is faster still where there are millions of texts; but it knows no order,
 * which phrases need, and a text that changes must be found and taken out of every list. Here it is one row replaced.
 *
 * The rank is BM25: rare words count more than common ones, further hits less and less, hits in short texts more.
 */
export class WordIndex {
  readonly #numbers = new Map<string, number>();
  readonly #texts = new Map<string, Int32Array>();
  #total = 0;

  /** Puts a text in, or in the place of the one with its id. Words may be many: `rest` is called every so often. */
  async put(id: string, words: Iterable<{ readonly folded: string }>, rest: Rest): Promise<void> {
    const numbers: number[] = [];
    for (const { folded } of words) {
      numbers.push(this.#numberOf(folded));
      if (numbers.length % STRETCH === 0) await rest();
    }
    this.drop(id);
    this.#texts.set(id, new Int32Array(numbers));
    this.#total += numbers.length;
  }

  drop(id: string): void {
    this.#total -= this.#texts.get(id)?.length ?? 0;
    this.#texts.delete(id);
  }

  #numberOf(word: string): number {
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    this.#numbers.set(word, this.#numbers.size);
    return this.#numbers.size - 1;
  }

  /** Ranks of the texts that hold all the terms, by id; higher is better. Costs one pass over the texts. */
  async find(
    terms: readonly Term[],
    isWanted: (id: string) => boolean,
    rest: Rest,
  ): Promise<Map<string, number>> {
    const sought = this.#seek(terms);
    const candidates: [id: string, text: Int32Array][] = [];
    const spread = new Float64Array(sought.count);
    let wanted = 0;
    for (const [id, text] of this.#texts) {
      if (!isWanted(id)) continue;
      wanted += 1;
      if (text.length >= STRETCH || wanted % STRETCH === 0) await rest();
      const seen = bitsIn(text, sought.bits);
      for (let i = 0; seen >> i !== 0; i += 1) spread[i] = (spread[i] ?? 0) + ((seen >> i) & 1);
      if (seen === sought.all) candidates.push([id, text]);
    }
    const rarity = spread.map((texts) => Math.log(1 + (wanted - texts + 0.5) / (texts + 0.5)));
    return this.#rank(candidates, sought, rarity, rest);
  }

  async #rank(
    candidates: readonly (readonly [string, Int32Array])[],
    { terms, bits }: Sought,
    rarity: Float64Array,
    rest: Rest,
  ): Promise<Map<string, number>> {
    const mean = this.#total / Math.max(this.#texts.size, 1);
    const ranks = new Map<string, number>();
    for (const [i, [id, text]] of candidates.entries()) {
      if (text.length >= STRETCH || i % STRETCH === 0) await rest();
      const hits = terms.map((term) => hitsIn(text, bits, term));
      if (hits.includes(0)) continue;
      const weigh = (count: number): number =>
        (count * (K + 1)) / (count + K * (1 - B + (B * text.length) / mean));
      const worth = ({ from, to }: SoughtTerm): number => rarity.subarray(from, to).reduce((a, b) => a + b);
      ranks.set(
        id,
        terms.reduce((rank, term, i) => rank + worth(term) * weigh(hits[i] ?? 0), 0),
      );
    }
    return ranks;
  }

  /** Gives each word of a query a bit, and each number the bits of the words that it stands for. */
  #seek(terms: readonly Term[]): Sought {
    const bits = new Int32Array(this.#numbers.size);
    let count = 0;
    const sought = terms.map(({ words, isPrefix }): SoughtTerm => {
      const from = count;
      for (const [i, word] of words.entries()) {
        const numbers =
          isPrefix && i === words.length - 1 ? this.#numbersFrom(word) : [this.#numbers.get(word)];
        for (const number of numbers)
          if (number !== undefined) bits[number] = (bits[number] ?? 0) | (1 << count);
        count += 1;
      }
      return { from, to: count, whole: this.#numbers.get(words.at(-1) ?? '') };
    });
    return { terms: sought, bits, count, all: 2 ** count - 1 };
  }

  #numbersFrom(prefix: string): number[] {
    const found: number[] = [];
    for (const [word, number] of this.#numbers) if (word.startsWith(prefix)) found.push(number);
    return found;
  }
}

/** The usual weights of BM25: how soon further hits stop to count, and how much the length of a text does. */
const K = 1.2;
const B = 0.75;

interface Sought {
  readonly terms: readonly SoughtTerm[];
  /** By number of a word: the bits of the query's words that it matches. */
  readonly bits: Int32Array;
  /** How many words the query has: at most 30, so that their bits fit an integer. */
  readonly count: number;
  readonly all: number;
}

/** A term as its bits, from one to before another. */
interface SoughtTerm {
  readonly from: number;
  readonly to: number;
  /** The number of its last word, if that is a word of its own. */
  readonly whole: number | undefined;
}

/** Which words of the query stand somewhere in a text. */
function bitsIn(text: Int32Array, bits: Int32Array): number {
  let seen = 0;
  for (let i = 0; i < text.length; i += 1) seen |= bits[text[i] as number] as number;
  return seen;
}

/** How often a term stands in a text; a word that only begins like it is half a hit. */
function hitsIn(text: Int32Array, bits: Int32Array, { from, to, whole }: SoughtTerm): number {
  let hits = 0;
  for (let at = 0; at + (to - from) <= text.length; at += 1) {
    if (((bits[text[at] as number] as number) & (1 << from)) === 0) continue;
    let bit = from + 1;
    while (bit < to && ((bits[text[at + bit - from] as number] as number) & (1 << bit)) !== 0) bit += 1;
    if (bit === to) hits += text[at + to - from - 1] === whole ? 1 : 0.5;
  }
  return hits;
}

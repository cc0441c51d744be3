import { type Rest, STRETCH } from './rest.ts';
import type { Term } from './words.ts';

/**
 * Texts as folded words, each with a space on both sides, so that every term is a substring. Ranks are BM25: rare terms count
 * more, further hits count less and less, and hits in short texts count more.
 */
export class WordIndex {
  readonly #texts = new Map<string, { readonly words: string; readonly count: number }>();
  #total = 0;

  /** Adds or replaces a text. */
  async put(id: string, words: Iterable<{ readonly folded: string }>, rest: Rest): Promise<void> {
    const all: string[] = [];
    for (const { folded } of words) if (all.push(folded) % STRETCH === 0) await rest();
    this.drop(id);
    this.#texts.set(id, { words: ` ${all.join(' ')} `, count: all.length });
    this.#total += all.length;
  }

  drop(id: string): void {
    this.#total -= this.#texts.get(id)?.count ?? 0;
    this.#texts.delete(id);
  }

  /** Ranks, by id, of the texts that contain all terms. Costs one pass over the texts. */
  async find(
    terms: readonly Term[],
    isWanted: (id: string) => boolean,
    rest: Rest,
  ): Promise<Map<string, number>> {
    const pieces = terms.map(({ words, isPrefix }) => ` ${words.join(' ')}${isPrefix ? '' : ' '}`);
    const holding = pieces.map(() => 0);
    const found: [id: string, count: number, hits: readonly number[]][] = [];
    let wanted = 0;
    for (const [id, { words, count }] of this.#texts) {
      if (!isWanted(id)) continue;
      wanted += 1;
      if (count >= STRETCH || wanted % STRETCH === 0) await rest();
      const hits = pieces.map((piece) => hitsIn(words, piece));
      for (const [i, hit] of hits.entries()) if (hit > 0) holding[i] = (holding[i] ?? 0) + 1;
      if (!hits.includes(0)) found.push([id, count, hits]);
    }
    const mean = this.#total / Math.max(this.#texts.size, 1);
    const worth = (i: number): number => {
      const texts = holding[i] ?? 0;
      return Math.log(1 + (wanted - texts + 0.5) / (texts + 0.5)) * (terms[i]?.words.length ?? 1);
    };
    const weigh = (hits: number, count: number): number =>
      (hits * (K + 1)) / (hits + K * (1 - B + (B * count) / mean));
    const rank = ([id, count, hits]: (typeof found)[number]): [string, number] => [
      id,
      hits.reduce((sum, hit, i) => sum + worth(i) * weigh(hit, count), 0),
    ];
    return new Map(found.map(rank));
  }
}

/** The usual weights of BM25: of further hits, and of the length of a text. */
const K = 1.2;
const B = 0.75;

/** How often a text contains a piece; the beginning of a longer word is half a hit. */
function hitsIn(words: string, piece: string): number {
  let hits = 0;
  for (let at = words.indexOf(piece); at >= 0; at = words.indexOf(piece, at + 1))
    hits += piece.endsWith(' ') || words[at + piece.length] === ' ' ? 1 : 0.5;
  return hits;
}

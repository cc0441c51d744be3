/**
 * Chance that can be repeated: the same key gives the same choices, on every machine and on every run.
 */
export interface Chance {
  /** One of the items; the list must not be empty. */
  pick<T>(items: readonly [T, ...T[]]): T;
  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number;
  /** The items in another order; the list itself is left as it is. */
  shuffle<T>(items: readonly T[]): T[];
}

/** A source of choices that depends on `key` and on nothing else. */
export function chance(key: string): Chance {
  let state = hash(key);
  const below = (limit: number): number => {
    state = (state + 0x9e3779b9) >>> 0;
    return Math.floor((stir(state) / 2 ** 32) * limit);
  };
  return {
    pick: (items) => items[below(items.length)] ?? items[0],
    between: (from, to) => from + below(to - from + 1),
    shuffle: (items) =>
      items
        .map((item) => ({ item, rank: below(2 ** 32) }))
        .toSorted((a, b) => a.rank - b.rank)
        .map(({ item }) => item),
  };
}

/** A short name for a text: equal texts have equal names, others hardly ever. 64 bits in base 36; it protects nothing. */
export function fingerprint(text: string): string {
  return hash(text).toString(36) + hash(`${text}.`).toString(36);
}

/** 32 bits that stand for a text (FNV-1a over its UTF-16 units). */
function hash(text: string): number {
  let bits = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193);
  return stir(bits);
}

/** Spreads a change of any bit over all 32. */
function stir(bits: number): number {
  let x = bits;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/**
 * A list in the order of a number. Nearly always it is in that order already, and then it is given back as it is: to sort
 * a thousand messages takes a hundred times as long as to see that they need not be sorted.
 */
export function inOrder<T>(list: readonly T[], numberOf: (one: T) => number): readonly T[] {
  let before = -Infinity;
  for (const one of list) {
    const number = numberOf(one);
    if (number < before) return list.toSorted((a, b) => numberOf(a) - numberOf(b));
    before = number;
  }
  return list;
}

/** Things of a chat, or changes, in the order in which they were made. */
export function bySeq<T extends { readonly seq: number }>(list: readonly T[]): readonly T[] {
  return inOrder(list, seqOf);
}

function seqOf({ seq }: { readonly seq: number }): number {
  return seq;
}

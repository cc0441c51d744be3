/**
 * Sums over a list that was summed before.
 *
 * A chat grows at its end, and whoever watches it asks after each turn what it adds up to. The list that is asked about
 * is then one that is known, with something added or its last message replaced. So the sums up to each message are
 * kept, and only what stands behind the first difference is added anew. Finding that difference compares references,
 * which is so cheap that ten thousand of them cost less than one message.
 *
 * What is kept hangs on the first message, as an object: it goes when the chat goes, and each chat has its own.
 */

/** Gives the sum up to and including each item, in a list of its own. */
export type Running<T extends object, S> = (items: readonly T[]) => readonly S[];

/** Keeps sums over lists; `add` is asked once for each item in its place. */
export function running<T extends object, S>(add: (item: T, sum: S | undefined) => S): Running<T, S> {
  const kept = new WeakMap<T, { readonly items: T[]; readonly sums: S[] }>();
  return (list) => {
    if (list.length === 0) return [];
    const first = list[0] as T;
    const { items, sums } = kept.get(first) ?? { items: [], sums: [] };
    kept.set(first, { items, sums });
    const shared = sharedLength(items, list);
    if (shared === list.length) return sums.slice(0, shared);
    items.length = sums.length = shared;
    for (const item of list.slice(shared)) {
      sums.push(add(item, sums.at(-1)));
      items.push(item);
    }
    return sums.slice();
  };
}

function sharedLength(a: readonly unknown[], b: readonly unknown[]): number {
  const most = Math.min(a.length, b.length);
  let shared = 0;
  while (shared < most && a[shared] === b[shared]) shared++;
  return shared;
}

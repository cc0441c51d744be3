import { copyOf, refuse, type Walk } from '../copy.ts';
import { ContextError, reasonOf } from '../errors.ts';
import { dataOf, hasLazy, rulesOf, walkFragments, withData, type FragmentRules } from './copy.ts';
import { BIND, brand, isLazyValue } from './fragment.ts';
import type { BoundCodec, ContextFragment, LazyValue } from './fragment.ts';

/**
 * Lazy values: functions, promises and iterables anywhere in a fragment's data. Each load evaluates them again, all at once,
 * and returns fragments with the results, which may hold lazy values again, to a depth, and pass the same checks as data that
 * was set. An iterator can be read only once, so its items are remembered. Loaded only where `hasLazy` says so.
 */

/** Options of {@link loadFragments}. */
export interface LoadOptions {
  /** Handed to lazy functions; rejects the load with `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

const MAX_DEPTH = 10;

const MAX_ITEMS = 10_000;

/**
 * The fragments with every lazy value loaded; a fragment without any is the same object.
 * @throws invalid-fragment, naming fragment and path, when a value fails to load or a limit is passed; aborted
 */
export async function loadFragments(
  fragments: readonly ContextFragment[],
  options: LoadOptions = {},
): Promise<readonly ContextFragment[]> {
  const loaded = fragments.map(async (one) =>
    hasLazy(one) ? load(options, one, (fragment, rules) => walkFragments([fragment], rules)[0]) : one,
  );
  return Promise.all(loaded);
}

/** Copies a value with `walk`, then the copy with what its lazy values gave. `depth`: lazy values around it. */
async function load<T>(
  options: LoadOptions,
  value: T,
  walk: (value: T, rules: FragmentRules<ContextFragment>) => unknown,
  depth = 0,
): Promise<T> {
  const { signal } = options;
  const places = new Map<LazyValue, Walk>();
  const found = (lazy: LazyValue, at: Walk): LazyValue => {
    if (!places.has(lazy)) places.set(lazy, { ...at, path: [...at.path] });
    return lazy;
  };
  const copy = walk(value, { node, lazy: found }) as T;
  const results = Array.from(places, async ([lazy, place]) => {
    if (depth >= MAX_DEPTH) refuse(place, `is lazy in more than ${MAX_DEPTH} levels`);
    const result = await obtain(lazy, options).catch((cause: unknown) => {
      if (signal?.aborted) throw aborted(signal);
      return refuse(place, `could not be loaded: ${reasonOf(cause)}`, cause);
    });
    const { subject, path } = place;
    const again = (one: unknown, rules: FragmentRules<ContextFragment>): unknown =>
      copyOf(one, subject, rulesOf(rules), path);
    return [lazy, await load(options, result, again, depth + 1)] as const;
  });
  const loaded = new Map(await Promise.all(results));
  return walk(copy, { node, lazy: (lazy) => loaded.get(lazy) }) as T;
}

/** A copy of the fragment. An app's own codec decodes once: the copy holds what it gave. */
function node(fragment: ContextFragment, walk: Walk): ContextFragment {
  const data = dataOf(fragment, walk);
  const copy = withData(fragment, data);
  const { codec } = copy;
  if (!codec || (codec as Partial<BoundCodec>)[BIND]) return copy;
  return brand({ ...copy, codec: { encode: () => codec.encode(), decode: () => data } });
}

/** The result of a lazy value: that of a function or promise, or the items of an iterable. */
async function obtain(value: LazyValue, { signal }: LoadOptions): Promise<unknown> {
  if (signal?.aborted) throw aborted(signal);
  const work = async (): Promise<unknown> => {
    const found: unknown = await (typeof value === 'function' ? value(signal ? { signal } : {}) : value);
    return isLazyValue(found) && typeof found !== 'function' ? itemsOf(found as Items) : found;
  };
  return signal ? unlessAborted(work(), signal) : work();
}

type Items = AsyncIterable<unknown> | Iterable<unknown>;

/** The items of each iterator that was read, because it can be read only once. */
const read = new WeakMap<object, Promise<unknown[]>>();

function itemsOf(iterable: Items): Promise<unknown[]> {
  const known = read.get(iterable);
  const items = known ?? collect(iterable);
  if ('next' in iterable && !known) {
    items.catch(() => undefined);
    read.set(iterable, items);
  }
  return items;
}

async function collect(iterable: Items): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const item of iterable) {
    if (items.length >= MAX_ITEMS) throw new Error(`more than ${MAX_ITEMS} items`);
    items.push(item);
  }
  return items;
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(aborted(signal));
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

function aborted(signal: AbortSignal): ContextError {
  return new ContextError('aborted', 'Loading fragments was aborted.', { cause: signal.reason });
}

import { copyOf, refuse, type Walk } from '../copy.ts';
import { ContextError, reasonOf } from '../errors.ts';
import { dataOf, hasLazy, rulesOf, walkFragments, withData, type FragmentRules } from './copy.ts';
import { BIND, brand, isBuilt, isLazyValue } from './fragment.ts';
import type { BoundCodec, ContextFragment, FragmentData, LazyValue } from './fragment.ts';

/**
 * Lazy values: functions, promises and iterables anywhere in a fragment's data. Each load evaluates them again, all at once,
 * and returns fragments with the results, which may hold lazy values again, to a depth, and pass the same checks as data that
 * was set. An iterator can be read only once, so its items are remembered. An engine asks `hasLazy` before it loads this
 * module.
 */

/** Options of {@link loadFragments}. */
export interface LoadOptions {
  /** Handed to lazy functions; rejects the load with `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** The deepest nesting of lazy values in results. */
const MAX_DEPTH = 10;

/** How many items an iterable may yield. */
const MAX_ITEMS = 10_000;

/**
 * The fragments with every lazy value loaded. Without any, the same array; a fragment without any is the same object.
 *
 * @throws invalid-fragment, naming fragment and path, when a value fails to load or a limit is passed; aborted
 */
export async function loadFragments(
  fragments: readonly ContextFragment[],
  options: LoadOptions = {},
): Promise<readonly ContextFragment[]> {
  if (!fragments.some(hasLazy)) return fragments;
  return Promise.all(
    fragments.map(async (fragment) => (hasLazy(fragment) ? loadFragment(fragment, options) : fragment)),
  );
}

async function loadFragment(fragment: ContextFragment, options: LoadOptions): Promise<ContextFragment> {
  return (await load(options, (rules) => walkFragments([fragment], rules)[0])) as ContextFragment;
}

/** A lazy value that a walk met, with its place, and later its result. */
interface Later {
  readonly value: LazyValue;
  readonly walk: Walk;
  result?: unknown;
}

/** Copies what `begin` walks over, then loads all lazy values in the copy. `depth`: lazy values around it. */
async function load(
  options: LoadOptions,
  begin: (rules: FragmentRules<unknown>) => unknown,
  depth = 0,
): Promise<unknown> {
  const later = new Set<unknown>();
  const copy = begin({
    node: (fragment, walk) => withData(fragment, dataOf(fragment, walk)),
    lazy: (value, walk) => {
      const one: Later = { value, walk: { ...walk, path: [...walk.path] } };
      later.add(one);
      return one;
    },
  });
  await Promise.all([...later].map((one) => loadLater(one as Later, options, depth)));
  return fill(copy, later);
}

async function loadLater(later: Later, options: LoadOptions, depth: number): Promise<void> {
  const { value, walk } = later;
  const { signal } = options;
  if (depth >= MAX_DEPTH) refuse(walk, `is lazy in more than ${MAX_DEPTH} levels`);
  const found = await obtain(value, options).catch((cause: unknown) => {
    if (signal?.aborted) throw aborted(signal);
    return refuse(walk, `could not be loaded: ${reasonOf(cause)}`, cause);
  });
  const again = (rules: FragmentRules<unknown>): unknown =>
    copyOf(found, walk.subject, rulesOf(rules), walk.path);
  later.result = await load(options, again, depth + 1);
}

/** The copy with results where lazy values stood. */
function fill(value: unknown, later: ReadonlySet<unknown>): unknown {
  if (later.has(value)) return (value as Later).result;
  if (Array.isArray(value)) return value.map((item) => fill(item, later));
  if (typeof value !== 'object' || value === null) return value;
  if (isBuilt(value)) return settled(value, fill(value.data, later) as FragmentData);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, later)]));
}

/** The fragment with its loaded data. An app's own codec has decoded already, and does not decode again. */
function settled(fragment: ContextFragment, data: FragmentData): ContextFragment {
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
    return isIterable(found) ? itemsOf(found) : found;
  };
  return signal ? unlessAborted(work(), signal) : work();
}

function isIterable(value: unknown): value is AsyncIterable<unknown> | Iterable<unknown> {
  return isLazyValue(value) && typeof value !== 'function';
}

/** The items of each iterator that was read, because it can be read only once. */
const read = new WeakMap<object, Promise<unknown[]>>();

function itemsOf(iterable: AsyncIterable<unknown> | Iterable<unknown>): Promise<unknown[]> {
  const known = read.get(iterable);
  const items = known ?? collect(iterable);
  if ('next' in iterable && !known) {
    items.catch(() => undefined);
    read.set(iterable, items);
  }
  return items;
}

async function collect(iterable: AsyncIterable<unknown> | Iterable<unknown>): Promise<unknown[]> {
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

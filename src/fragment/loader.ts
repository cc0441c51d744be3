import { ContextError } from '../errors.ts';
import { copyAt, copyValue, formatPath, fragmentRules, walkFragment, walkWith, withData } from './copy.ts';
import type { FragmentVisitor, Walk } from './copy.ts';
import { BIND, brand, getFragmentData, isBuilt, isLazyValue } from './fragment.ts';
import type { ContextFragment, FragmentData, LazyValue } from './fragment.ts';

/**
 * Values that are only known later: today's date, the open document, a profile from the network.
 *
 * A fragment may hold functions, promises and iterables anywhere in its data. Each load asks them anew, all at once,
 * and gives fragments that hold only what came; the lazy ones stay as they are for the next time. A promise answers the
 * same each time by nature. An iterator can be read only once, so what it gave is remembered for it, and an aborted
 * load does not cost the next one its items.
 *
 * What comes may hold lazy values again, to a depth; what a function gives passes the same checks as what was set.
 */

/** Options of {@link loadFragments}. */
export interface LoadOptions {
  /** Handed to lazy functions; rejects the load with `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** How deep lazy values may give lazy values. Default 10. */
  readonly maxDepth?: number;
  /** How many items one iterable may give. Default 10,000. */
  readonly maxItems?: number;
}

/** Whether anything in a fragment is only known later. */
export function hasLazy(fragment: ContextFragment): boolean {
  let found = false;
  walkFragment(fragment, { node: dataOf, lazy: () => (found = true) });
  return found;
}

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
  return (await load(fragment.name, options, (visitor) =>
    walkFragment(fragment, visitor),
  )) as ContextFragment;
}

/** A lazy value that a walk met, and then what it gave. */
interface Later {
  readonly value: LazyValue;
  readonly path: readonly (string | number)[];
  readonly depth: number;
  result?: unknown;
}

/** Copies what `begin` walks over, then loads all that is lazy in the copy. */
async function load(
  name: string,
  options: LoadOptions,
  begin: (visitor: FragmentVisitor<unknown>) => unknown,
  depth = 0,
): Promise<unknown> {
  const later = new Set<unknown>();
  const copy = begin({
    node: (fragment, walk) => withData(fragment, dataOf(fragment, walk)),
    lazy: (value, { path }) => {
      const one: Later = { value, path: [...path], depth };
      later.add(one);
      return one;
    },
  });
  await Promise.all([...later].map((one) => loadLater(one as Later, name, options)));
  return fill(copy, later);
}

async function loadLater(later: Later, name: string, options: LoadOptions): Promise<void> {
  const { value, path, depth } = later;
  const { maxDepth = 10 } = options;
  if (depth >= maxDepth) throw failure(name, path, `is lazy in more than ${maxDepth} levels`);
  const found = await obtain(value, options).catch((cause: unknown) => {
    if (options.signal?.aborted) throw aborted(options.signal);
    throw failure(
      name,
      path,
      `could not be loaded: ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    );
  });
  later.result = await load(
    name,
    options,
    (visitor) => walkWith(fragmentRules(name, visitor, path), (walk) => copyValue(found, walk)),
    depth + 1,
  );
}

/** The copy with results where lazy values stood. */
function fill(value: unknown, later: ReadonlySet<unknown>): unknown {
  if (later.has(value)) return (value as Later).result;
  if (Array.isArray(value)) return value.map((item) => fill(item, later));
  if (typeof value !== 'object' || value === null) return value;
  if (isBuilt(value)) return settled(value, fill(value.data, later) as FragmentData);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, later)]));
}

/** The fragment with its loaded data. A codec of the app's own has been asked, and is not asked to decode again. */
function settled(fragment: ContextFragment, data: FragmentData): ContextFragment {
  const copy = withData(fragment, data);
  const { codec } = copy;
  if (!codec || BIND in codec) return copy;
  return brand({ ...copy, codec: { encode: () => codec.encode(), decode: () => data } });
}

/** What a lazy value gives: the result of a function or promise, the items of an iterable. */
async function obtain(value: LazyValue, { signal, maxItems = 10_000 }: LoadOptions): Promise<unknown> {
  if (signal?.aborted) throw aborted(signal);
  const work = async (): Promise<unknown> => {
    const found: unknown = await (typeof value === 'function' ? value(signal ? { signal } : {}) : value);
    return isIterable(found) ? itemsOf(found, maxItems) : found;
  };
  return signal ? unlessAborted(work(), signal) : work();
}

function isIterable(value: unknown): value is AsyncIterable<unknown> | Iterable<unknown> {
  return isLazyValue(value) && typeof value !== 'function';
}

/** What iterators gave, because they give it only once. */
const read = new WeakMap<object, Promise<unknown[]>>();

function itemsOf(iterable: AsyncIterable<unknown> | Iterable<unknown>, maxItems: number): Promise<unknown[]> {
  const known = read.get(iterable);
  const items = known ?? collect(iterable, maxItems);
  if ('next' in iterable && !known) {
    items.catch(() => undefined);
    read.set(iterable, items);
  }
  return items;
}

async function collect(
  iterable: AsyncIterable<unknown> | Iterable<unknown>,
  maxItems: number,
): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const item of iterable) {
    if (items.length >= maxItems) throw new Error(`more than ${maxItems} items`);
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

function dataOf(fragment: ContextFragment, walk: Walk): FragmentData {
  return copyAt({ data: getFragmentData(fragment) }, 'data', walk) as FragmentData;
}

function failure(
  name: string,
  path: readonly (string | number)[],
  complaint: string,
  cause?: unknown,
): ContextError {
  const where = formatPath(path);
  return new ContextError('invalid-fragment', `Fragment "${name}": ${where} ${complaint}`, {
    details: { path: where },
    cause,
  });
}

function aborted(signal: AbortSignal): ContextError {
  return new ContextError('aborted', 'Loading fragments was aborted.', { cause: signal.reason });
}

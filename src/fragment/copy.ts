import { ContextError, isContextError, reasonOf } from '../errors.ts';
import {
  BIND,
  brand,
  getFragmentData,
  isBuilt,
  isFragment,
  isLazyValue,
  isMessageFragment,
} from './fragment.ts';
import type { BoundCodec, ContextFragment, FragmentData, LazyValue } from './fragment.ts';

/**
 * One careful walk over data that somebody handed us.
 *
 * Whatever enters (a fragment's data, a message) is copied once at the door, and everything behind it may trust the
 * copy: no cycles, bounded depth and size, no getters left that could throw, nothing that rendering or storage would
 * silently lose. What cannot be taken is refused with the path to it.
 *
 * The walk recurses, because its depth is bounded. A cycle is found by that bound too, which costs nothing on the usual
 * way: only when the depth runs out does anyone look whether an object stands twice on the trail. Objects that are
 * shared but not circular are copied each time they are met.
 */

/** Values (of any kind) that one fragment or message may hold. */
const MAX_VALUES = 1_000_000;

/** Levels of nesting in fragments: lists, records and fragments each count one. */
export const MAX_DEPTH = 128;

/** What a walk does with what it meets. */
export interface CopyRules {
  readonly code: 'invalid-fragment' | 'invalid-messages';
  readonly maxDepth: number;
  /** Write numbers as JSON does: NaN and infinities become null. */
  readonly json?: boolean;
  /** Leave null out of lists. */
  readonly dropNull?: boolean;
  /** What becomes of a record; without it, a plain copy. */
  readonly record?: (record: object, walk: Walk) => unknown;
  /** What becomes of a fragment; without it, fragments are plain records. */
  readonly node?: (fragment: ContextFragment, walk: Walk) => unknown;
  /** What becomes of a value that is only known later; without it, such values are refused. */
  readonly lazy?: (value: LazyValue, walk: Walk) => unknown;
}

/** Where a value stands: keys and indexes from the root. */
export type Path = readonly (string | number)[];

/** Where a walk is. */
export interface Walk {
  readonly rules: CopyRules;
  /** How an error begins: `Fragment "hint"`. */
  subject: string;
  readonly from: Path;
  readonly path: (string | number)[];
  /** The objects on the way from the root to here. */
  readonly trail: object[];
  left: number;
}

/**
 * Begins a walk, at the root or where `from` says; whatever is thrown on the way becomes a ContextError that names the
 * path.
 */
export function walkWith<R>(rules: CopyRules, subject: string, begin: (walk: Walk) => R, from: Path = []): R {
  const walk: Walk = { rules, subject, from, path: from.slice(), trail: [], left: MAX_VALUES };
  try {
    return begin(walk);
  } catch (cause) {
    if (isContextError(cause)) throw cause;
    return refuse(walk, `cannot be read: ${reasonOf(cause)}`, cause);
  }
}

/** A copy of what an object holds under a key; the path is kept for errors, those of getters included. */
export function copyAt(holder: object, key: string | number, walk: Walk): unknown {
  walk.path.push(key);
  const copy = copyValue((holder as Record<string | number, unknown>)[key], walk);
  walk.path.pop();
  return copy;
}

/** Throws for the value that the walk stands at. */
export function refuse(walk: Walk, complaint: string, cause?: unknown): never {
  const path = formatPath(walk.path);
  throw new ContextError(walk.rules.code, `${walk.subject}: ${path || 'it'} ${complaint}`, {
    details: { path },
    cause,
  });
}

/** `parts[0].input["first name"]`; of a long path its beginning. */
function formatPath(path: Path): string {
  const keys = path.map((key, i) =>
    typeof key === 'string' && /^[\w$]+$/.test(key) ? (i > 0 ? '.' : '') + key : `[${JSON.stringify(key)}]`,
  );
  return keys.join('').slice(0, 200);
}

/** A copy of a value; see the top of this file. */
export function copyValue(value: unknown, walk: Walk): unknown {
  if (--walk.left < 0) refuse(walk, `is one value too many: ${MAX_VALUES} are allowed`);
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
      return walk.rules.json && !Number.isFinite(value) ? null : value;
    case 'object':
      return value === null ? null : copyObject(value, walk);
    case 'function':
      return walk.rules.lazy ? walk.rules.lazy(value as LazyValue, walk) : refuseKind('function', walk);
    case 'bigint':
    case 'symbol':
      return refuseKind(typeof value, walk);
    default:
      return value;
  }
}

function copyObject(value: object, walk: Walk): unknown {
  if (walk.trail.length >= walk.rules.maxDepth) refuseDepth(value, walk);
  walk.trail.push(value);
  const copy = copyByKind(value, walk);
  walk.trail.pop();
  return copy;
}

function copyByKind(value: object, walk: Walk): unknown {
  const { node, lazy, record = copyRecord } = walk.rules;
  if (Array.isArray(value)) return copyList(value, walk);
  if (node && isBuilt(value)) return named(value, walk, node);
  if (lazy && isLazyValue(value)) return lazy(value, walk);
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return copyValue(toJSON.call(value, ''), walk);
  if (Object.getPrototypeOf(value) !== Object.prototype) refuseExotic(value, walk);
  return record(value, walk);
}

function copyList(list: readonly unknown[], walk: Walk): unknown[] {
  const copy: unknown[] = [];
  for (let i = 0; i < list.length; i++) {
    const item = copyAt(list, i, walk) ?? null;
    if (item !== null || !walk.rules.dropNull) copy.push(item);
  }
  return copy;
}

function copyRecord(record: object, walk: Walk): unknown {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(record)) {
    const item = copyAt(record, key, walk);
    if (item === undefined) continue;
    // Assigned, this one key would set the prototype.
    if (key !== '__proto__') copy[key] = item;
    else
      Object.defineProperty(copy, key, {
        value: item,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return copy;
}

/** Refuses what keeps its content where `Object.keys` does not look: errors, maps, binary data. */
function refuseExotic(value: object, walk: Walk): void {
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  if (kind !== 'Object') refuseKind(kind, walk);
}

function refuseKind(kind: string, walk: Walk): never {
  return refuse(walk, `is of type ${kind}, which is no plain data`);
}

function refuseDepth(value: object, walk: Walk): never {
  const { trail, path, from, rules } = walk;
  const again = trail.findIndex((seen, i) => trail.indexOf(seen) < i);
  if (again < 0 && !trail.includes(value)) refuse(walk, `is nested deeper than ${rules.maxDepth} levels`);
  if (again >= 0) path.length = Math.min(path.length, again + from.length);
  return refuse(walk, 'is circular: it leads back to a value that it is in');
}

/** What rules with a `node` make of one fragment and all inside it. */
export function walkFragment<R>(fragment: ContextFragment, rules: NodeRules<R>): R {
  return walkFragments([fragment], rules)[0] as R;
}

/** What rules with a `node` make of each of these fragments and all inside it. */
export function walkFragments<R>(fragments: readonly ContextFragment[], rules: NodeRules<R>): R[] {
  return walkWith(rules, 'Fragment', (walk) =>
    fragments.map((fragment) => {
      if (!isFragment(fragment)) {
        throw new ContextError(
          'invalid-fragment',
          'Not a fragment: it needs a name and data, as role() and fragment() give them.',
          { details: { path: '' } },
        );
      }
      walk.subject = `Fragment "${fragment.name}"`;
      walk.left = MAX_VALUES;
      walk.trail.push(fragment);
      const made = named(fragment, walk, rules.node);
      walk.trail.pop();
      return made;
    }),
  );
}

type NodeRules<R> = CopyRules & { readonly node: (fragment: ContextFragment, walk: Walk) => R };

function named<R>(
  fragment: ContextFragment,
  walk: Walk,
  node: (fragment: ContextFragment, walk: Walk) => R,
): R {
  return typeof fragment.name === 'string' && fragment.name
    ? node(fragment, walk)
    : refuse(walk, 'has no name');
}

/**
 * A copy that the engine may keep: data is copied in depth, so the caller's objects are never changed and later
 * changes to them are not seen. Lazy values and an app's own codecs stay the objects they are.
 *
 * @throws invalid-fragment, naming the path, for what is no fragment or holds what cannot be rendered
 */
export function copyFragment<F extends ContextFragment>(
  fragment: F,
  lazy: NonNullable<CopyRules['lazy']> = keepLazy,
): F {
  return walkFragment(fragment, { code: 'invalid-fragment', maxDepth: MAX_DEPTH, node: copyNode, lazy }) as F;
}

function copyNode(fragment: ContextFragment, walk: Walk): ContextFragment {
  const copy =
    isMessageFragment(fragment) || !('data' in fragment)
      ? brand({ ...fragment })
      : withData(fragment, copyAt(fragment, 'data', walk) as FragmentData);
  expectText(copy.name, 'name', walk);
  expectText(copy.id ?? '', 'id', walk);
  return copy;
}

/** A getter of a class is not copied, and a hand-made fragment may have anything. */
function expectText(value: unknown, key: string, walk: Walk): void {
  if (typeof value === 'string') return;
  walk.path.push(key);
  refuse(walk, 'must be a text, and a property of the fragment itself');
}

/** A copy of what a fragment renders. */
export function dataOf(fragment: ContextFragment, walk: Walk): FragmentData {
  walk.path.push('data');
  const copy = copyValue(getFragmentData(fragment), walk);
  walk.path.pop();
  return copy as FragmentData;
}

/** For walks that need every value now: refuses one that is only known later. */
export function refuseLazy(value: LazyValue, walk: Walk): never {
  const kind = typeof value === 'function' ? 'a function' : 'then' in value ? 'a promise' : 'an iterable';
  return refuse(walk, `is ${kind} that is not loaded yet; resolve() loads it`);
}

function keepLazy(value: LazyValue): LazyValue {
  // A promise may fail before anyone resolves. That is reported by resolve(), and is not unhandled until then.
  if (value instanceof Promise) value.catch(() => undefined);
  return value;
}

/** The fragment with other data; a codec of ours then speaks for that data. */
export function withData(fragment: ContextFragment, data: FragmentData): ContextFragment {
  const copy: { -readonly [K in keyof ContextFragment]: ContextFragment[K] } = { ...fragment, data };
  const bind = (fragment.codec as BoundCodec | undefined)?.[BIND];
  if (bind) copy.codec = bind(copy);
  return brand(copy);
}

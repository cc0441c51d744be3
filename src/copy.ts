import { ContextError, isContextError, reasonOf, type ContextErrorCode } from './errors.ts';

/**
 * One careful walk over data that comes from outside. What enters is copied once at the door, and everything behind may trust
 * the copy: no cycles, bounded depth and size, each getter read once, nothing that rendering or storage would silently lose.
 * What cannot be taken is refused with the path to it.
 *
 * The walk recurses to a bounded depth; only when that runs out does it look for an object that is on the trail twice.
 */

/** What a walk does with the values that it meets. */
export interface CopyRules {
  readonly code: ContextErrorCode;
  /** Levels of nesting: lists and records count one each. */
  readonly maxDepth: number;
  /** Values (of any kind) that one walk may meet. Default 1,000,000. */
  readonly maxValues?: number;
  /** Write numbers as JSON does: NaN and infinities become null. */
  readonly json?: boolean;
  /** Leave null out of lists. */
  readonly dropNull?: boolean;
  /** The function that copies an object (but a list) or a function that is more than data; undefined for plain data. */
  readonly special?: (value: object) => ((value: never, walk: Walk) => unknown) | undefined;
  /** Maps a text; default: unchanged. */
  readonly text?: (text: string) => string;
  /** Maps a record; default: a plain copy. */
  readonly record?: (record: object, walk: Walk) => unknown;
}

/** Keys and indexes from the root. */
type Path = readonly (string | number)[];

/** The state of a walk. */
export interface Walk {
  readonly rules: CopyRules;
  /** The beginning of an error's message: `Fragment "hint"`. */
  subject: string;
  readonly from: Path;
  readonly path: (string | number)[];
  /** The objects on the way from the root to here. */
  readonly trail: object[];
  /** How many values it has met. */
  met: number;
}

/** A copy of a value, by these rules. Throws a ContextError that begins with `subject` and names the path. */
export function copyOf(value: unknown, subject: string, rules: CopyRules, from?: Path): unknown {
  return walkWith(rules, subject, (walk) => copyValue(value, walk), from);
}

/** Begins a walk, at the root or at `from`; any error on the way becomes a ContextError that names the path. */
export function walkWith<R>(rules: CopyRules, subject: string, begin: (walk: Walk) => R, from: Path = []): R {
  const walk: Walk = { rules, subject, from, path: [...from], trail: [], met: 0 };
  try {
    return begin(walk);
  } catch (cause) {
    if (isContextError(cause)) throw cause;
    return refuse(walk, `cannot be read: ${reasonOf(cause)}`, cause);
  }
}

/** Throws for the current value of a walk. */
export function refuse({ rules, subject, path }: Walk, complaint: string, cause?: unknown): never {
  const place = formatPath(path);
  const message = `${subject}: ${place || 'it'} ${complaint}`;
  throw new ContextError(rules.code, message, { details: { path: place }, cause });
}

/** `parts[0].input["first name"]`; the beginning of a long path. */
function formatPath(path: Path): string {
  const keys = path.map((key, i) =>
    typeof key === 'string' && /^[\w$]+$/.test(key) ? (i > 0 ? '.' : '') + key : `[${JSON.stringify(key)}]`,
  );
  return keys.join('').slice(0, 200);
}

/** A copy of an object's value under a key; errors, those of getters included, name the path. */
export function copyAt(holder: object, key: string | number, walk: Walk): unknown {
  walk.path.push(key);
  const copy = copyValue((holder as Record<string | number, unknown>)[key], walk);
  walk.path.pop();
  return copy;
}

/** A copy of the current value of a walk. */
export function copyValue(value: unknown, walk: Walk): unknown {
  const { rules } = walk;
  const { maxValues = 1_000_000 } = rules;
  if (++walk.met > maxValues) refuse(walk, `is one value too many: ${maxValues} are allowed`);
  switch (typeof value) {
    case 'string':
      return rules.text ? rules.text(value) : value;
    case 'number':
      return rules.json && !Number.isFinite(value) ? null : value + 0;
    case 'object':
      return value === null ? null : copyObject(value, walk);
    case 'function':
      return (rules.special?.(value) ?? refuseKind)(value as never, walk);
    case 'bigint':
    case 'symbol':
      return refuseKind(value, walk);
    default:
      return value;
  }
}

function copyObject(value: object, walk: Walk): unknown {
  if (walk.trail.length >= walk.rules.maxDepth) refuseDepth(value, walk);
  walk.trail.push(value);
  const copy = Array.isArray(value) ? copyList(value, walk) : copyByKind(value, walk);
  walk.trail.pop();
  return copy;
}

function copyList(list: readonly unknown[], walk: Walk): unknown[] {
  const copy: unknown[] = [];
  for (let i = 0; i < list.length; i++) {
    const item = copyAt(list, i, walk) ?? null;
    if (item !== null || !walk.rules.dropNull) copy.push(item);
  }
  return copy;
}

function copyByKind(value: object, walk: Walk): unknown {
  const { special, record = copyRecord } = walk.rules;
  const copySpecial = special?.(value);
  if (copySpecial) return copySpecial(value as never, walk);
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') return copyValue(toJSON.call(value, ''), walk);
  // Errors, maps and binary data keep their content where `Object.keys` does not look.
  if (Object.getPrototypeOf(value) !== Object.prototype && kindOf(value) !== 'Object')
    refuseKind(value, walk);
  return record(value, walk);
}

function copyRecord(record: object, walk: Walk): unknown {
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(record)) {
    const item = copyAt(record, key, walk);
    if (item !== undefined) setField(copy, key, item);
  }
  return copy;
}

/** Sets a field of any name. An assignment to `__proto__` would set the prototype. */
export function setField(record: object, name: string | number, value: unknown): void {
  if (name !== '__proto__') (record as Record<string | number, unknown>)[name] = value;
  else Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
}

function refuseKind(value: unknown, walk: Walk): never {
  const kind = typeof value === 'object' ? kindOf(value) : typeof value;
  return refuse(walk, `is of type ${kind}, which is no plain data`);
}

function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

function refuseDepth(value: object, walk: Walk): never {
  const { trail, path, from, rules } = walk;
  const again = trail.findIndex((seen, i) => trail.indexOf(seen) < i);
  if (again < 0 && !trail.includes(value)) refuse(walk, `is nested deeper than ${rules.maxDepth} levels`);
  if (again >= 0) path.length = Math.min(path.length, again + from.length);
  return refuse(walk, 'is circular: it leads back to a value that it is in');
}

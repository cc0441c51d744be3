/**
 * For sweeps and campaigns on fake-indexeddb, which do the same small things a hundred thousand times.
 *
 * It copies with `structuredClone()` what it is given, and again what it gives out, which is most of what a
 * small database costs it. While this is on, what is written is copied and frozen, and whoever reads gets that copy: no
 * tab can change what another one has read, and one that tries to gets an error, where a disk would let it pass.
 * What is no plain data goes the long way.
 *
 * It also makes an error for each row that an index leaves out; errors are made without their stacks meanwhile. So a
 * failure has to say where it happened. Returns the way back.
 */
export function quickenDisk(): () => void {
  const native = globalThis.structuredClone;
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  globalThis.structuredClone = <T>(value: T, options?: StructuredSerializeOptions): T => {
    const copy = options === undefined ? frozen(value, 0) : NOT_PLAIN;
    return copy === NOT_PLAIN ? native(value, options) : (copy as T);
  };
  return () => {
    globalThis.structuredClone = native;
    Error.stackTraceLimit = stackTraceLimit;
  };
}

const NOT_PLAIN = Symbol('not plain');
const DEEPEST = 100;
const shared = new WeakSet<object>();

/** Whether a value is one of the copies: it will never change. */
export function isShared(value: unknown): value is object {
  return typeof value === 'object' && value !== null && shared.has(value);
}

function frozen(value: unknown, depth: number): unknown {
  if (typeof value === 'function' || typeof value === 'symbol') return NOT_PLAIN;
  if (typeof value !== 'object' || value === null || shared.has(value)) return value;
  if (depth > DEEPEST) return NOT_PLAIN;
  const copy = copyOf(value, depth);
  if (copy === undefined) return NOT_PLAIN;
  shared.add(copy);
  return copy;
}

function copyOf(value: object, depth: number): object | undefined {
  // Bytes can't be frozen; whoever changed them would change the disk, and be found out there.
  if (Object.getPrototypeOf(value) === Uint8Array.prototype) return (value as Uint8Array).slice();
  const copy = Array.isArray(value) ? copyOfList(value, depth) : copyOfRecord(value, depth);
  return copy && Object.freeze(copy);
}

function copyOfList(list: readonly unknown[], depth: number): object | undefined {
  const copy = list.map((item) => frozen(item, depth + 1));
  return copy.includes(NOT_PLAIN) ? undefined : copy;
}

function copyOfRecord(record: object, depth: number): object | undefined {
  const prototype: unknown = Object.getPrototypeOf(record);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(record)) {
    const kept = frozen(item, depth + 1);
    if (kept === NOT_PLAIN) return undefined;
    if (key === '__proto__') Object.defineProperty(copy, key, { value: kept, enumerable: true });
    else copy[key] = kept;
  }
  return copy;
}

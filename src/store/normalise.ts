import type { UIMessage } from 'ai';
import { ContextError, reasonOf } from '../errors.ts';
import { copyBeside } from './attachments.ts';
import type { OpNamed, StoreOp } from './store.ts';

/**
 * The operations as they will be stored: cut loose from the caller's objects, and without anything that a store could
 * stumble over later. All that can fail about a value fails here, before a transaction is open, because a database does
 * not undo the puts that came before one that it refuses.
 */
export function normaliseOps(ops: readonly StoreOp[]): StoreOp[] {
  return ops.map(normaliseOp);
}

function normaliseOp(op: StoreOp): StoreOp {
  if (op.op === 'insert') return { ...op, data: normaliseMessage(op.id, op.data) };
  if (op.op === 'replace' && op.data) return { ...op, data: normaliseMessage(op.id, op.data) };
  if (op.op === 'chat') return normaliseChange(op);
  if (op.op === 'set' || op.op === 'merge') return { ...op, value: cloneValue(op.key, op.value) } as StoreOp;
  return { ...op };
}

/** A title that is no text, or metadata and usage that are no records, would take what was there with them. */
function normaliseChange(op: OpNamed<'chat'>): StoreOp {
  const { title = null, metadata, usage } = op;
  expect(title === null || typeof title === 'string', 'title', 'a text or null', title);
  expect(isRecordOrNone(metadata), 'metadata', 'a record', metadata);
  expect(isRecordOrNone(usage), 'usage', 'a record of numbers', usage);
  return asJson(op, 'This change of a chat');
}

function expect(holds: boolean, field: string, what: string, value: unknown): void {
  if (holds) return;
  const message = `The ${field} of a chat must be ${what}, and is ${reasonOf(value)}.`;
  throw new ContextError('invalid-options', message, { details: { field, value } });
}

function isRecordOrNone(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && !Array.isArray(value));
}

/**
 * A message as JSON would keep it, under the id that it is stored by. Throws `invalid-messages` where JSON can't, and
 * where the id is no text or an empty one.
 */
export function normaliseMessage(id: string, data: UIMessage): UIMessage {
  if (typeof id !== 'string' || id === '') {
    const message = `A message needs an id, a text that is not empty: got "${reasonOf(id)}".`;
    throw new ContextError('invalid-messages', message, { details: { id } });
  }
  const copy = copyBeside(data, (light) => asJson(light, `Message "${id}"`));
  return copy.id === id ? copy : { ...copy, id };
}

/** A value as JSON would keep it. Throws `invalid-messages` for cycles and big integers. */
export function asJson<T>(value: T, what: string): T {
  try {
    return (copyOf(value, 0) ?? throughJson(value)) as T;
  } catch (cause) {
    const message = `${what} can't be stored: ${reasonOf(cause)}`;
    throw new ContextError('invalid-messages', message, { cause });
  }
}

function throughJson(value: unknown): unknown {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError('JSON has no such value.');
  return JSON.parse(text);
}

/**
 * What JSON makes of a value, where that is the same again: texts are shared then, and ten thousand messages of an import
 * are copied in a tenth of the time. Undefined for whatever JSON turns into something else, and for what is nested so
 * deep that it may be a ring.
 */
function copyOf(value: unknown, depth: number): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0) ? value : undefined;
  if (typeof value !== 'object' || depth > DEEP || 'toJSON' in value) return undefined;
  if (Array.isArray(value)) return copyOfList(value, depth);
  return Object.getPrototypeOf(value) === Object.prototype
    ? copyOfRecord(value as Readonly<Record<string, unknown>>, depth)
    : undefined;
}

function copyOfList(list: readonly unknown[], depth: number): unknown {
  const copy: unknown[] = [];
  for (let i = 0; i < list.length; i += 1) {
    const same = copyOf(list[i], depth + 1);
    if (same === undefined) return undefined;
    copy.push(same);
  }
  return copy;
}

/** A field without a value is left out, as JSON does. */
function copyOfRecord(record: Readonly<Record<string, unknown>>, depth: number): unknown {
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(record)) {
    const value = record[name];
    if (value === undefined) continue;
    const same = copyOf(value, depth + 1);
    if (same === undefined || name === '__proto__') return undefined;
    copy[name] = same;
  }
  return copy;
}

const DEEP = 100;

/** A copy of an app's own value. Throws `invalid-options` for what can't be cloned. */
export function cloneValue(key: string, value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch (cause) {
    const message = `The value of "${key}" can't be stored: it holds something that can't be cloned.`;
    throw new ContextError('invalid-options', message, { details: { key }, cause });
  }
}

/** The key of an app's own value. Throws `invalid-options` for one that is no text. */
export function expectKey(key: string): string {
  if (typeof key === 'string') return key;
  throw new ContextError('invalid-options', `The key of a value must be a text, and is ${reasonOf(key)}.`, {
    details: { key },
  });
}

import type { UIMessage } from 'ai';
import { ContextError, reasonOf } from '../errors.ts';
import { copyBeside, hasFiles } from './attachments.ts';
import type { StoreOp } from './store.ts';
import { rememberText } from './texts.ts';

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
  if (op.op === 'chat') return asJson(op, 'This change of a chat');
  if (op.op === 'set') return { ...op, value: cloneValue(op.key, op.value) };
  return { ...op };
}

/** A message as JSON would keep it, under the id that it is stored by. Throws `invalid-messages` where JSON can't. */
export function normaliseMessage(id: string, data: UIMessage): UIMessage {
  let text = '';
  const copy = copyBeside(data, (light) => {
    text = jsonOf(light, `Message "${id}"`);
    return JSON.parse(text) as UIMessage;
  });
  const message = { ...copy, id };
  if (copy.id === id && !hasFiles(message)) rememberText(message, text);
  return message;
}

/** A value as JSON would keep it. Throws `invalid-messages` for cycles and big integers. */
export function asJson<T>(value: T, what: string): T {
  return JSON.parse(jsonOf(value, what)) as T;
}

function jsonOf(value: unknown, what: string): string {
  try {
    const text = JSON.stringify(value) as string | undefined;
    if (text === undefined) throw new TypeError('JSON has no such value.');
    return text;
  } catch (cause) {
    const message = `${what} can't be stored: ${reasonOf(cause)}`;
    throw new ContextError('invalid-messages', message, { cause });
  }
}

/** A copy of an app's own value. Throws `invalid-options` for what can't be cloned. */
export function cloneValue(key: string, value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch (cause) {
    const message = `The value of "${key}" can't be stored: it holds something that can't be cloned.`;
    throw new ContextError('invalid-options', message, { details: { key }, cause });
  }
}

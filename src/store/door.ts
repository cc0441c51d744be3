import { ContextError, type ContextErrorCode, reasonOf } from '../errors.ts';
import type { StoreOp } from './store.ts';

/**
 * What a caller hands in, looked at before any store takes it.
 *
 * Types hold it in TypeScript, and nothing does where values come from JSON, from an address or from plain JavaScript. A
 * database keeps a branch whose id is a number, and no list ever finds it again: told as saved, and gone. So every store
 * refuses the same here, by the same code, and past this point types carry the proof.
 */

/** Throws `invalid-options` unless each of these is a text. */
export function expectTexts(values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values)) expect(TEXT, name, value);
}

/** Throws `invalid-options` for what is no change number, where one may be left out; with `isAsked` it may not. */
export function expectSince(seq: unknown, isAsked: boolean): void {
  expect(isAsked ? NUMBER : orNone(NUMBER), 'change number', seq);
}

/** Throws `invalid-options` for what can't limit a list. */
export function expectLimit(limit: unknown): void {
  expect(orNone(COUNT), 'limit', limit);
}

/** Throws `invalid-options` for options that are no record, or have a field that is not what it must be. */
export function expectOptions(options: unknown, fields: Fields = {}): void {
  expect(orNone(RECORD), 'options', options);
  if (isRecord(options)) expectFields(options, fields);
}

/** Throws `invalid-options` unless these are texts in a list, and those, where they are there, numbers. */
export function expectNodes(ids: unknown, seqs: unknown): void {
  expect(TEXTS, 'ids', ids);
  expect(orNone(NUMBERS), 'seqs', seqs);
}

/** Throws `invalid-options` for what is no bytes. */
export function expectBytes(bytes: unknown): void {
  expect(BYTES, 'bytes', bytes);
}

/** Throws for operations that a chat could not be read from afterwards: `invalid-messages` for a message that is none. */
export function expectOps(ops: unknown): void {
  if (!Array.isArray(ops)) return refuse('ops', 'a list of operations', ops);
  for (const op of ops as readonly unknown[]) {
    const fields = isRecord(op) ? OPS[op['op'] as StoreOp['op']] : undefined;
    if (!isRecord(op) || !fields)
      return refuse('op', 'an operation of a store', isRecord(op) ? op['op'] : op);
    expectFields(op, fields);
    if (op['op'] === 'insert' || (op['op'] === 'replace' && op['data'] !== undefined))
      expectMessage(op['data']);
  }
}

/** Throws `invalid-messages` for what has no role, or no parts that a message is read from. */
export function expectMessage(message: unknown): void {
  const { role, parts } = isRecord(message) ? message : {};
  if (!isRole(role))
    return refuse('role of a message', 'user, assistant or system', role, 'invalid-messages');
  if (!Array.isArray(parts) || !parts.every(isPart))
    refuse('parts of a message', 'a list of parts', parts, 'invalid-messages');
}

function isRole(role: unknown): boolean {
  return role === 'user' || role === 'assistant' || role === 'system';
}

/** A text that is not there yet is none of the store's business; one that is no text would break each read of it. */
function isPart(part: unknown): boolean {
  if (!isRecord(part) || !isText(part['type'])) return false;
  return part['type'] !== 'text' || part['text'] === undefined || isText(part['text']);
}

// --- Fields ---------------------------------------------------------------------------------------------------------

/** What a value must be, and the words for it. */
interface Check {
  readonly is: (value: unknown) => boolean;
  readonly what: string;
}

type Fields = Readonly<Record<string, Check>>;

const isText = (value: unknown): boolean => typeof value === 'string';

const TEXT: Check = { is: isText, what: 'a text' };
const TEXTS: Check = { is: (value) => Array.isArray(value) && value.every(isText), what: 'a list of texts' };
const NUMBER: Check = { is: (value) => typeof value === 'number' && !Number.isNaN(value), what: 'a number' };
const NUMBERS: Check = {
  is: (value) => Array.isArray(value) && value.every(NUMBER.is),
  what: 'a list of numbers',
};
/** Of things: a list of none is what those below it ask for. */
const COUNT: Check = {
  is: (value) => Number.isInteger(value) || Math.abs(value as number) === Infinity,
  what: 'a whole number',
};
const TIME: Check = { is: (value) => Number.isFinite(value), what: 'a time in milliseconds' };
const BYTES: Check = { is: (value) => ArrayBuffer.isView(value), what: 'a Uint8Array' };
const RECORD: Check = { is: isRecord, what: 'a record' };
/** Of what is found by it. */
const ID: Check = { is: (value) => isText(value) && value !== '', what: 'a text that is not empty' };
const PLACE: Check = { is: (value) => value === null || isText(value), what: 'the id of a message, or null' };
const STATUS = oneOf('complete', 'streaming', 'interrupted');

function oneOf(...values: readonly string[]): Check {
  return { is: (value) => values.includes(value as string), what: values.join(' or ') };
}

function orNone({ is, what }: Check): Check {
  return { is: (value) => value === undefined || is(value), what };
}

/** The fields of each operation, but those of messages and of the chat, which have words of their own for it. */
const OPS: Readonly<Record<StoreOp['op'], Fields>> = {
  insert: {
    parentId: PLACE,
    status: STATUS,
    createdAt: orNone(TIME),
    sources: orNone(TEXTS),
    rev: orNone(NUMBER),
  },
  replace: { status: orNone(STATUS), rev: orNone(NUMBER), createdAt: orNone(TIME) },
  drop: { id: TEXT, createdAt: orNone(TIME) },
  head: { branchId: ID, expected: PLACE, messageId: PLACE, forkId: ID },
  branch: { id: ID, name: orNone(TEXT), base: orNone(TEXT), messageId: PLACE },
  'rename-branch': { id: TEXT, name: TEXT },
  'delete-branch': { id: TEXT },
  'restore-branch': { id: TEXT },
  use: { branchId: TEXT },
  checkpoint: { id: ID, name: TEXT, messageId: TEXT },
  'rename-checkpoint': { id: TEXT, name: TEXT },
  'delete-checkpoint': { id: TEXT },
  chat: { usageId: orNone(TEXT) },
  mend: { seq: NUMBER },
  set: { key: TEXT },
  merge: { key: TEXT, value: RECORD },
};

/** The options of an append. */
export const APPEND: Fields = {
  userId: TEXT,
  epoch: NUMBER,
  mainBranchId: ID,
  metadata: orNone({ is: (value) => value === null || isRecord(value), what: 'a record' }),
  onConflict: orNone(oneOf('fork', 'rebase', 'error')),
  chatRev: orNone(NUMBER),
  asOf: orNone(NUMBER),
  chatCreatedAt: orNone(NUMBER),
};

/** The options of a list of chats, of a search, of a deletion, and of a chain. */
export const LIST: Fields = {
  userId: orNone(TEXT),
  metadata: orNone({ is: (value) => isRecord(value) && isText(value['key']), what: '{ key, value }' }),
  limit: orNone(COUNT),
  offset: orNone(COUNT),
};
export const SEARCH: Fields = { roles: orNone(TEXTS), limit: orNone(COUNT), branch: orNone(TEXT) };
export const REMOVAL: Fields = { userId: orNone(TEXT), keepFor: orNone(NUMBER) };
export const CHAIN: Fields = { limit: orNone(COUNT) };

function expectFields(values: Readonly<Record<string, unknown>>, fields: Fields): void {
  for (const name in fields) expect(fields[name] as Check, name, values[name]);
}

function expect({ is, what }: Check, name: string, value: unknown): void {
  if (!is(value)) refuse(name, what, value);
}

function refuse(
  name: string,
  what: string,
  value: unknown,
  code: ContextErrorCode = 'invalid-options',
): void {
  throw new ContextError(code, `The ${name} must be ${what}, and is ${reasonOf(value)}.`, {
    details: { name, value },
  });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

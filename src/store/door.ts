import { copyOf } from '../copy.ts';
import { ContextError, type ContextErrorCode, readFrom, reasonOf } from '../errors.ts';
import { kindOf, subjectOf } from '../graph/marks.ts';
import type { CommitOptions, Draft, StoreDelta } from './store.ts';

/**
 * Checks of what a caller passes, before any store takes it: a value of a wrong type would spread to every device. Every store
 * refuses the same values with the same codes. Unknown fields and kinds of marks, of newer versions, pass. The arguments are
 * copied first, as JSON keeps them, and the copy is checked.
 */

/**
 * A copy of the delta of a commit. A parent, an end or a mark may refer to a record that is not there.
 *
 * @throws invalid-options for a value that is no delta, and for a beginning of another user
 */
export function checkDelta(delta: StoreDelta, userId: string): StoreDelta {
  const copy = ownCopy('delta', delta);
  expectFields(copy, DELTA, 'delta');
  // A local record with the value undefined is to be removed.
  const local = Object.fromEntries(
    Object.keys(Object(delta.local)).map((name) => [name, copy.local?.[name]]),
  );
  const { messages, ends, marks } = copy;
  for (const record of messages) {
    expectFields(record, MESSAGE, 'message');
    expect('text', 'versions of a message', record.versions.length > 0 ? '' : undefined);
    for (const version of record.versions) {
      expectFields(version, VERSION, 'version');
      if (version.body !== undefined) expectFields(version.body, BODY, 'message');
    }
  }
  for (const record of ends) expectFields(record, ENDS, 'branch record');
  for (const mark of marks) {
    expectFields(mark, MARK, 'mark');
    const kind = kindOf(mark);
    if (Object.hasOwn(VALUES, kind)) expectFields(mark.value, VALUES[kind] as Fields, kind);
    else expect(kind === 'title' ? 'title' : 'json', `value of mark "${reasonOf(mark.id)}"`, mark.value);
    if (kind !== 'beginning') continue;
    const { userId: owner } = mark.value as { userId: string };
    if (subjectOf(mark) !== mark.chat)
      refuse('chat key of a beginning', reasonOf(subjectOf(mark)), mark.chat);
    if (owner !== userId) refuse('userId of a beginning', reasonOf(userId), owner);
  }
  return { ...copy, local };
}

/**
 * The deltas for which an engine of this page vouches: it makes them of what was copied and checked where it entered the engine,
 * so the store takes them as they are, with the options of their commits.
 */
export const vouched: WeakSet<StoreDelta> = new WeakSet();

/** A copy of the options of a commit. Throws `invalid-options` for others. */
export function checkCommit(options: CommitOptions): CommitOptions {
  const copy = ownCopy('options', options);
  expectFields(copy, COMMIT, 'options');
  for (const keys of Object.values(copy.expect ?? {})) expect('key[]', 'expected ends', keys);
  return copy;
}

/** A copy of a draft. Throws `invalid-options` for a value that is no draft, `invalid-messages` for a bad message in it. */
export function checkDraft(draft: Draft): Draft {
  const copy = ownCopy('draft', draft);
  expectFields(copy, DRAFT, 'draft');
  expectFields(copy.message, BODY, 'message', 'invalid-messages');
  return copy;
}

/** Throws `invalid-options` unless the arguments with these names, the first of a call, are texts. */
export function expectTexts(names: string, args: readonly unknown[]): void {
  for (const [i, name] of names.split(' ').entries()) expect('text', name, args[i]);
}

/** These fields of an options object, each read once. Throws `invalid-options` for a value that is no options object. */
export function readOptions<T extends object>(options: T | undefined, fields: Fields): T {
  expect('record?', 'options', options);
  const read: Record<string, unknown> = {};
  for (const name in fields) {
    read[name] = readFrom(name, () => (options as Readonly<Record<string, unknown>> | undefined)?.[name]);
    expect(fields[name] as string, name, read[name]);
    if (read[name] === undefined) delete read[name];
  }
  return read as T;
}

/** A copy of an app's own value. Throws `invalid-options` for one that can't be cloned. */
export function cloneValue(key: string, value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch (cause) {
    const name = reasonOf(key);
    const message = `The value of "${name}" can't be stored: it holds something that can't be cloned.`;
    throw new ContextError('invalid-options', message, { details: { key: name }, cause });
  }
}

/** The kind of each field, see {@link isA}; `[]` is a list, `?` an optional field. */
export type Fields = Readonly<Record<string, string>>;

const DELTA: Fields = { messages: 'record[]', ends: 'record[]', marks: 'record[]', local: 'record?' };
const MESSAGE: Fields = {
  key: 'key',
  id: 'id',
  parent: 'parent',
  role: 'user|assistant|system',
  at: 'integer',
  createdAt: 'time',
  chat: 'id',
  sources: 'key[]?',
  seq: 'integer?',
  versions: 'record[]',
};

const VERSION: Fields = {
  rev: 'revision',
  by: 'text',
  status: 'complete|streaming|interrupted',
  sum: 'text',
  id: 'id?',
  gone: 'true?',
  parts: 'integer',
  preview: 'text',
};

const BODY: Fields = { id: 'id', role: 'user|assistant|system', parts: 'part[]' };
const ENDS: Fields = {
  id: 'id',
  at: 'integer',
  createdAt: 'time',
  chat: 'id',
  keys: 'key[]',
  seq: 'integer?',
};

const MARK: Fields = { id: 'id', rev: 'integer', by: 'text', chat: 'id', seq: 'integer?' };
const DRAFT: Fields = { key: 'key', rev: 'revision', by: 'text', seq: 'integer?' };

/** The fields of a mark's value, by the kind of the mark. */
const VALUES: Readonly<Record<string, Fields>> = {
  beginning: { userId: 'text', createdAt: 'time' },
  name: { name: 'text' },
  deletion: { on: 'truth', at: 'integer' },
  checkpoint: { name: 'text', key: 'key', createdAt: 'time', at: 'integer' },
  usage: {},
};

const COMMIT: Fields = {
  userId: 'text',
  database: 'text',
  generation: 'integer',
  since: 'integer',
  branchCount: 'integer?',
  expect: 'record?',
};

function expectFields(value: unknown, fields: Fields, of: string, code?: ContextErrorCode): void {
  expect('record', of, value, code);
  for (const name in fields) {
    const field = (value as Readonly<Record<string, unknown>>)[name];
    expect(fields[name] as string, `${name} of a ${of}`, field, code);
  }
}

/** Throws `invalid-options`, or `code`, for a value that is not of this kind. */
export function expect(kind: string, name: string, value: unknown, code?: ContextErrorCode): void {
  try {
    if (isA(kind, value)) return;
  } catch {
    // A revoked proxy, or a getter that throws.
  }
  refuse(name, WORDS[kind] ?? `of the kind "${kind}"`, value, code);
}

function refuse(
  name: string,
  what: string,
  value: unknown,
  code: ContextErrorCode = 'invalid-options',
): never {
  const words = reasonOf(value);
  throw new ContextError(code, `The ${name} must be ${what}, and is ${words}.`, {
    details: { name, value: words },
  });
}

/** Whether a value is of a kind, or is one of the texts between bars. */
function isA(kind: string, value: unknown): boolean {
  if (kind.endsWith('?')) return value === undefined || isA(kind.slice(0, -1), value);
  if (kind.endsWith('[]')) return Array.isArray(value) && value.every((item) => isA(kind.slice(0, -2), item));
  return KINDS[kind]?.(value) ?? kind.split('|').includes(value as string);
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isKey = (value: unknown): boolean => isText(value) && value.startsWith('key:') && value.length > 4;
const isRecord = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isWhole = (value: unknown, least: number): boolean =>
  Number.isInteger(value) && Number(value) >= least && Number(value) < 2 ** 52;

const KINDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: isText,
  id: (value) => isText(value) && value !== '',
  key: isKey,
  parent: (value) => value === null || isKey(value),
  title: (value) => value === null || isText(value),
  record: isRecord,
  part: isPart,
  number: (value) => typeof value === 'number' && !Number.isNaN(value),
  integer: (value) => isWhole(value, 0),
  revision: (value) => isWhole(value, 1),
  time: Number.isFinite,
  // A negative count is like 0.
  count: (value) => Number.isInteger(value) || value === Infinity || value === -Infinity,
  bytes: (value) => Object.prototype.toString.call(value) === '[object Uint8Array]',
  json: (value) => value !== undefined,
  truth: (value) => typeof value === 'boolean',
  true: (value) => value === true,
  set: (value) => value instanceof Set,
  filter: (value) => isText((Object(value) as { readonly key?: unknown }).key),
};

/** A text part may have no text yet, but a text that is no string would break each read. */
function isPart(value: unknown): boolean {
  const { type, text = '' } = Object(value) as Readonly<Record<string, unknown>>;
  return isRecord(value) && isText(type) && (type !== 'text' || isText(text));
}

/** Descriptions of kinds, where the name is not enough. */
const WORDS: Readonly<Record<string, string>> = {
  text: 'a text',
  id: 'a text that is not empty',
  key: 'a key of a message',
  parent: 'the key of a message, or null',
  integer: 'an integer from 0 to below 2^52',
  revision: 'an integer from 1 to below 2^52',
  time: 'a time in milliseconds',
  bytes: 'a Uint8Array',
  filter: '{ key, value }',
};

/**
 * A copy of data as JSON keeps it, except that NaN throws: null could pass for the parent of a first message. Throws for values
 * that JSON would lose (functions, maps, binary data), for cycles, for more than 512 levels or ten million values.
 */
export function ownCopy<T>(what: string, value: T): T {
  return copyOf(value, `The ${what}`, RULES) as T;
}

const RULES = { code: 'invalid-options', maxDepth: 512, maxValues: 10_000_000 } as const;

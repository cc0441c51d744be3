import type { Key, Table, Tables } from '../layout.ts';

/**
 * What the disk gives back is looked at once, where it enters.
 *
 * Disks lose blocks, and programs and people write where they should not. A record that is not what it was must cost no
 * more than itself. Were it trusted, a number that is a text, or a list that is not there, would break some line far
 * from here, and with it every read of the chat. So each record that comes in is compared with what its table holds.
 * A field that is not what it should be gets a harmless value in its place; a record that can't be told from others
 * any more (its key is no key, its text no JSON) counts as not there.
 *
 * Nothing is written here. What was met is noted, so that `verify()` can name it and `repair()` put it right
 * (`salvage.ts`).
 */
export interface Damage {
  readonly table: Table;
  /** As it lies there; undefined where the browser does not give it out. */
  readonly record: unknown;
  /** As it is read; undefined where it can't be. */
  readonly row: unknown;
}

/** A record as its table keeps it, or what can be read of it: the same object where nothing is wrong. */
export function readRecord<T extends Table>(table: T, record: unknown): Tables[T] | undefined {
  return readRow(table, record) as Tables[T] | undefined;
}

/**
 * What is left of a record that the browser does not give out: what its key says. Of a block of messages that is enough
 * to look for their words; other records are not there.
 */
export function remainsOf(table: Table, key: Key): unknown {
  if (table !== 'topologies') return undefined;
  const [chatId, block] = key as readonly [string, number];
  return { chatId, block };
}

function readRow(table: Table, record: unknown): unknown {
  const row = isText(table) && typeof record === 'string' ? parsed(record) : record;
  if (table === 'values') return record;
  if (!isRecord(row)) return undefined;
  if (isText(table)) return readText(table, row);
  const isTombstone = table === 'chats' && 'deletedAt' in row && !('nextSeq' in row);
  return mended(row, isTombstone ? TOMBSTONE : FIELDS[table]);
}

type Fields = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// --- Texts ----------------------------------------------------------------------------------------------------------

/** Whether a table's rows are kept as JSON text. */
export function isText(table: Table): table is 'bodies' | 'drafts' | 'revisions' {
  return table === 'bodies' || table === 'drafts' || table === 'revisions';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readText(table: 'bodies' | 'drafts' | 'revisions', row: Fields): unknown {
  if (table === 'revisions') return row;
  if (table === 'drafts' && 'tail' in row) return typeof row['tail'] === 'string' ? row : undefined;
  if (table === 'drafts' && 'of' in row) return mended(row, PATCH);
  return readBody(row);
}

/** A message as it can be shown: what is not a part goes. Undefined for what is no message. */
export function readBody(row: unknown): unknown {
  if (!isRecord(row) || !isName(row['id'])) return undefined;
  const { role, parts } = row;
  if (!Array.isArray(parts)) return undefined;
  if (isRole(role) && parts.every(isPart)) return row;
  return { ...row, role: isRole(role) ? role : 'assistant', parts: parts.filter(isPart) };
}

function isRole(value: unknown): boolean {
  return value === 'user' || value === 'assistant' || value === 'system';
}

/** Texts are the parts whose words are looked for everywhere, so they must have some. */
function isPart(part: unknown): boolean {
  if (!isRecord(part) || typeof part['type'] !== 'string') return false;
  return typeof part['text'] === 'string' || !['text', 'reasoning'].includes(part['type']);
}

// --- Fields ---------------------------------------------------------------------------------------------------------

/** What a field must be, and what it is read as when it is not; without the latter the record can't be read. */
interface Field {
  readonly is: (value: unknown) => boolean;
  readonly or?: unknown;
}

type Fieldset = Readonly<Record<string, Field>>;

const isString = (value: unknown): boolean => typeof value === 'string';
const isName = (value: unknown): boolean => isString(value) && value !== '';
const isNumber = (value: unknown): boolean => Number.isFinite(value);
/** No chat has 2^48 of anything, and whoever counts on from there soon can't count any more. */
const isCount = (value: unknown): boolean =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 48;

const oneOf =
  (...values: readonly unknown[]) =>
  (value: unknown): boolean =>
    values.includes(value);
const orNull =
  (is: Field['is']) =>
  (value: unknown): boolean =>
    value === null || is(value);
const orNone =
  (is: Field['is']) =>
  (value: unknown): boolean =>
    value === undefined || is(value);

const key: Field = { is: isString };
const place: Field = { is: isCount };
const text: Field = { is: isString, or: '' };
const count: Field = { is: isCount, or: 0 };
const time: Field = { is: isNumber, or: 0 };
const rev: Field = { is: isCount, or: 1 };
const optional = (is: Field['is']): Field => ({ is: orNone(is), or: undefined });
const changed = optional(isCount);

/** What a draft says beyond the one before. */
const PATCH: Fieldset = {
  of: place,
  from: place,
  to: place,
  text: key,
};

/** What is read of the topology of one message, single or sealed. */
export const INFO: Fieldset = {
  chatId: key,
  id: { is: isName },
  seq: place,
  parentId: { is: orNull(isString), or: null },
  name: { is: isRole, or: 'assistant' },
  type: { is: oneOf('message'), or: 'message' },
  createdAt: time,
  status: { is: oneOf('complete', 'streaming', 'interrupted'), or: 'complete' },
  sources: optional((value) => Array.isArray(value) && value.every(isString)),
  depth: rev,
  rev,
  deviceId: text,
  v: rev,
  bodyHash: optional(isString),
  preview: text,
  parts: rev,
};

/** What is left of a chat that was deleted. Deleted is what says so, whenever that was. */
const TOMBSTONE = { id: key, userId: text, rev, epoch: count, deletedAt: { is: orNone(isNumber), or: 0 } };

const pointer = { chatId: key, id: key, name: text, createdAt: time, made: optional(isNumber), rev, changed };

/** The fields that each table's rows must have; others are kept as they are. */
const FIELDS: Readonly<Record<Exclude<Table, 'values' | 'bodies' | 'drafts' | 'revisions'>, Fieldset>> = {
  chats: {
    ...TOMBSTONE,
    title: optional(isString),
    metadata: optional(isRecord),
    createdAt: time,
    updatedAt: time,
    activeBranchId: text,
    messageCount: count,
    checkpointCount: optional(isCount),
    nextSeq: count,
    purgeAt: optional(isNumber),
    changed,
  },
  nodes: { ...INFO, changed },
  topologies: { chatId: key, block: place },
  packs: { chatId: key, block: place },
  marks: { chatId: key, group: place },
  branches: {
    ...pointer,
    // A head that nobody can have: it dangles, and is mended like others that do.
    headMessageId: { is: orNull(isString), or: '' },
    messageCount: count,
    updatedAt: time,
    usedSeq: time,
    deviceId: text,
    deletedAt: optional(isNumber),
  },
  checkpoints: { ...pointer, messageId: text, deletedAt: optional(isNumber) },
  changes: {
    seq: place,
    kind: { is: oneOf('chat', 'node', 'branch', 'checkpoint') },
    op: { is: oneOf('put', 'delete') },
    chatId: key,
    id: key,
    rev,
  },
  blobs: { hash: key, bytes: { is: (value) => value instanceof Uint8Array } },
  uses: { chatId: key, hash: key },
  fresh: { hash: key, until: time },
  leases: { chatId: key, id: key, until: time },
  meta: { seq: place, clearedSeq: optional(isCount), at: optional(isNumber), deviceId: key, databaseId: key },
};

/** The row with a harmless value for each field that is not what it should be; the row itself where all are. */
export function mended(row: Fields, fields: Fieldset): Fields | undefined {
  let better: Record<string, unknown> | undefined;
  for (const name in fields) {
    const field = fields[name] as Field;
    if (field.is(row[name])) continue;
    if (!('or' in field)) return undefined;
    better ??= { ...row };
    if (field.or === undefined) delete better[name];
    else better[name] = field.or;
  }
  return better ?? row;
}

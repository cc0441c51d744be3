import { copyOf, walkWith, type Walk } from '../copy.ts';
import { ContextError, isRecord, readFrom, reasonOf } from '../errors.ts';
import { copyFragment, MAX_DEPTH, refuseLazy } from './copy.ts';
import { BIND, brand, fragment, isBuilt, isMessageFragment } from './fragment.ts';
import type { BoundCodec, ContextFragment, FragmentData } from './fragment.ts';

/**
 * Fragments as plain JSON and back, for an app's own database. Nineteen have a form that is written down here; one of another
 * name takes part through a codec that encodes to such a form, or through a registry. What comes in is checked field by field
 * with the line that wrote it, by own properties only.
 *
 * A field that holds any data may hold a plain record whose `type` is `hint` or `user`, such as a row of a table. Read back it
 * would become a fragment, so it is written inside a record of type `contextree:record`.
 */

/** A fragment as JSON: its type and its fields. */
export interface SerializedFragment {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** How an app reads and writes a fragment type of its own; wins over ours of the same name. What it throws is typed. */
export interface RegistryEntry {
  toFragment(input: SerializedFragment, options: SerializeOptions): ContextFragment;
  /** Without it, the fragment's codec encodes. */
  fromFragment?(fragment: ContextFragment, options: SerializeOptions): SerializedFragment;
}

/** Options of {@link fromFragment}, {@link toFragment} and {@link encodeSerializedValue}. */
export interface SerializeOptions {
  /** The app's own types, by name. */
  readonly registry?: Readonly<Record<string, RegistryEntry>>;
}

/**
 * The fields of each type: `?` may be missing, and is left out where it is empty; `[]` is a list of texts, `*` a list
 * of any data, fragments included, `{}` a record of texts; all others are texts.
 */
const FORMS = {
  term: 'name definition',
  hint: 'text',
  guardrail: 'rule reason? action?',
  explain: 'concept explanation therefore?',
  example: 'question answer note?',
  clarification: 'when ask reason',
  workflow: 'task steps[] triggers[]? notes?',
  quirk: 'issue workaround',
  styleGuide: 'prefer never? always?',
  analogy: 'concepts[] relationship insight? therefore? pitfall?',
  glossary: 'entries{}',
  role: 'content',
  principle: 'title description policies*?',
  policy: 'rule before? reason? policies*?',
  identity: 'name? role?',
  persona: 'name role? objective? tone?',
  alias: 'term meaning',
  preference: 'aspect value',
  correction: 'subject clarification',
} as const;

/** The fragment types that can be serialised without a registry. */
export type SerializableType = keyof typeof FORMS;

type Fields = Readonly<Record<string, unknown>>;

/**
 * A fragment as JSON.
 * @throws invalid-fragment for messages, names without a form, lazy values, fields of the wrong kind, and a codec that
 * throws; invalid-options for options that can't be read
 */
export function fromFragment(fragment: ContextFragment, options?: SerializeOptions): SerializedFragment {
  return serialize(copyFragment(fragment, refuseLazy), known(options));
}

/**
 * A fragment from its JSON.
 * @throws invalid-fragment for an unknown type, naming it, or a missing or mistyped field, naming it; invalid-options
 */
export function toFragment(flat: SerializedFragment, options?: SerializeOptions): ContextFragment {
  return hydrate(plain(flat), known(options));
}

/** Data as JSON, each fragment in it as {@link fromFragment} writes it. */
export function encodeSerializedValue(value: FragmentData, options?: SerializeOptions): unknown {
  const { data } = copyFragment(fragment('value', value), refuseLazy);
  return encode(data?.[0], known(options));
}

function known(options: SerializeOptions = {}): SerializeOptions {
  return readFrom('The options', () => ({ registry: { ...options.registry } }));
}

/** @internal A fragment of one of the known types, with its codec. */
export function serializable(type: SerializableType, fields: Fields): ContextFragment {
  const data = walkWith(PLAIN, `${type}()`, (walk) => dataFrom(type, fields, walk)) as FragmentData;
  const made: ContextFragment = { name: type, data };
  return brand(Object.assign(made, { codec: codecFor(type, made) }));
}

function codecFor(type: SerializableType, fragment: ContextFragment, how: SerializeOptions = {}): BoundCodec {
  return {
    encode: () => {
      const flat = fieldsFrom(type, fragment.data);
      return { type, ...fieldsIn(type, flat, (value, { kind }) => encode(value, how, kind === '*')) };
    },
    decode: () => fragment.data,
    [BIND]: (copy, how) => codecFor(type, copy, how),
  };
}

function serialize(fragment: ContextFragment, options: SerializeOptions): SerializedFragment {
  const { name, codec } = fragment;
  if (isMessageFragment(fragment)) throw messageError(name);
  const subject = `Fragment "${reasonOf(name)}"`;
  const entry = entryOf(name, options);
  const isWritten = entry?.fromFragment !== undefined;
  if (!isWritten && !codec) {
    const isOurs = own(FORMS, name) !== undefined;
    const message = isOurs ? `${subject} is missing codec` : `Unsupported fragment name: ${reasonOf(name)}`;
    throw error(message, { name });
  }
  const write = (): unknown =>
    isWritten
      ? entry.fromFragment?.(fragment, options)
      : ((codec as BoundCodec)[BIND]?.(fragment, options) ?? codec)?.encode();
  // What toFragment() can read.
  const flat = plain(asked(subject, isWritten ? 'registry' : 'codec', write));
  if (!isSerialized(flat))
    throw error(`${subject} codec must encode to a serialized fragment object`, { name });
  const { type } = flat;
  return entryOf(type, options) ? flat : { type, ...fieldsIn(type, flat) };
}

/** Calls a codec or registry of the app; what it throws becomes an error that names it. */
function asked<T>(subject: string, whose: string, ask: () => T): T {
  return walkWith(PLAIN, subject, ask, [whose]);
}

/** Data with its fragments serialised; with `marked`, a record that looks like a serialised fragment is wrapped. */
function encode(value: unknown, options: SerializeOptions, marked = false): unknown {
  if (typeof value === 'object' && value !== null && isBuilt(value)) return serialize(value, options);
  const data = mapData(value, (item) => encode(item, options, marked));
  return marked && isKnown(data, options) ? { type: RECORD, record: data } : data;
}

function hydrate(flat: unknown, options: SerializeOptions): ContextFragment {
  if (!isSerialized(flat))
    throw error('A serialized fragment is an object with a string type.', { path: '' });
  if (isMessageType(flat.type)) throw messageError(flat.type);
  const { type } = flat;
  const entry = entryOf(type, options);
  if (entry) {
    const read = (): ContextFragment => entry.toFragment(flat, options);
    return copyFragment(asked(`Serialized fragment "${reasonOf(type)}"`, 'registry', read));
  }
  const fields = fieldsIn(type, flat, (value, { kind }) => (kind === '*' ? decode(value, options) : value));
  return serializable(type as SerializableType, fields);
}

/** The type of a record that only looks like a serialised fragment. */
const RECORD = 'contextree:record';

/** Data with its serialised fragments as fragments. A record of an unknown type stays a record. */
function decode(value: unknown, options: SerializeOptions): unknown {
  if (isKnown(value, options) && value.type !== RECORD) return hydrate(value, options);
  const data = isSerialized(value) && value.type === RECORD ? value['record'] : value;
  return mapData(data, (item) => decode(item, options));
}

function isKnown(value: unknown, options: SerializeOptions): value is SerializedFragment {
  if (!isSerialized(value)) return false;
  const { type } = value;
  return [own(FORMS, type), entryOf(type, options)].some(Boolean) || type === RECORD || isMessageType(type);
}

function mapData(value: unknown, change: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(change);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, change(item)]));
}

interface Field {
  readonly name: string;
  readonly kind: '' | '[]' | '*' | '{}';
  readonly optional: boolean;
}

const KINDS = { '': 'a string', '[]': 'a list of strings', '*': 'a list', '{}': 'an object of strings' };

function formOf(type: string): Field[] {
  const form = own(FORMS, type);
  if (!form) throw error(`Unsupported serialized fragment type: ${reasonOf(type)}`, { type });
  return (form as string).split(' ').map((field) => {
    const [, name = '', kind = '', optional] = /^(\w+)(\W*?)(\??)$/.exec(field) ?? [];
    return { name, kind: kind as Field['kind'], optional: optional === '?' };
  });
}

/** The fields that the type has, in its order, checked and changed: others are dropped, and empty ones that may be. */
function fieldsIn(
  type: string,
  flat: unknown,
  change: (value: unknown, field: Field) => unknown = (value) => value,
): Fields {
  const fields: Record<string, unknown> = {};
  for (const field of formOf(type)) {
    const { name, kind } = field;
    const value = own(flat, name);
    if (field.optional && isEmpty(value)) continue;
    if (!fits(kind, value)) {
      const found = value === null ? 'null' : typeof value;
      const message = `Serialized fragment "${type}": "${name}" must be ${KINDS[kind]}, not ${found}`;
      throw error(message, { type, field: name });
    }
    fields[name] = change(value, field);
  }
  return fields;
}

function fits(kind: Field['kind'], value: unknown): boolean {
  if (kind === '') return typeof value === 'string';
  if (kind === '{}') return isRecord(value) && Object.values(value).every((item) => typeof item === 'string');
  return Array.isArray(value) && (kind === '*' || value.every((item) => typeof item === 'string'));
}

/** The types whose fragments hold a single field, bare. */
const BARE: Readonly<Record<string, string>> = { hint: 'text', role: 'content' };

/** Fields as the fragment holds them. */
function dataFrom(type: SerializableType, fields: Fields, walk: Walk): unknown {
  const bare = BARE[type];
  if (bare) return fields[bare];
  if (type === 'glossary')
    return Object.entries(fields.entries as Fields).map(([term, expression]) => ({ term, expression }));
  const data: Record<string, unknown> = {};
  for (const { name, optional } of formOf(type)) {
    walk.path[0] = name;
    const value = fields[name];
    if (!(optional && isEmpty(value))) data[name] = value;
  }
  return data;
}

/** The fields that the data was made from. */
function fieldsFrom(type: SerializableType, data: unknown): unknown {
  const bare = BARE[type];
  if (bare) return { [bare]: data };
  if (type !== 'glossary' || !Array.isArray(data)) return data;
  return { entries: Object.fromEntries(data.map(({ term, expression }: Fields) => [term, expression])) };
}

/** A copy that is surely JSON: no cycles, no getters, no functions. */
function plain(value: unknown): unknown {
  return copyOf(value, 'Serialized fragment', PLAIN);
}

const PLAIN = { code: 'invalid-fragment', maxDepth: MAX_DEPTH, json: true } as const;

/** What a table has of its own, and nothing that it inherits. */
function own(table: unknown, key: string): unknown {
  return isRecord(table) && Object.hasOwn(table, key) ? table[key] : undefined;
}

function entryOf(type: string, { registry }: SerializeOptions): RegistryEntry | undefined {
  return own(registry, type) as RegistryEntry | undefined;
}

function isSerialized(value: unknown): value is SerializedFragment {
  return typeof own(value, 'type') === 'string';
}

function isMessageType(type: string): boolean {
  return type === 'user' || type === 'assistant' || type === 'message';
}

function isEmpty(value: unknown): boolean {
  return !value || (Array.isArray(value) && value.length === 0);
}

function messageError(name: string): ContextError {
  return error('Message fragments are not supported by serialized fragment conversion', { name });
}

function error(message: string, details: Record<string, unknown>): ContextError {
  return new ContextError('invalid-fragment', message, { details });
}

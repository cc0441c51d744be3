import { ContextError } from '../errors.ts';
import { copyFragment, copyValue, MAX_DEPTH, refuseLazy, walkWith, type Walk } from './copy.ts';
import { BIND, brand, fragment, isBuilt, isMessageFragment, isRecord } from './fragment.ts';
import type { BoundCodec, ContextFragment, FragmentData } from './fragment.ts';

/**
 * Fragments as plain JSON and back, for an app's own database.
 *
 * Nineteen fragments have a form that is written down here, one line each; a fragment of another name takes part
 * through a codec of its own that encodes to one of these forms, or through a registry. What comes in is checked field
 * by field with the same line that wrote it, and names are looked up among own properties only: `toString` is no type.
 *
 * Where any data may stand, a row of a table may have a column called `type`, and a cell in it that says `hint` or
 * `user`. Written as it is, it would come back as a fragment, or not at all, so it is put into a record that says that
 * it is one.
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
 *
 * @throws invalid-fragment for messages, names without a form, lazy values, fields of the wrong kind, and a codec that
 * throws
 */
export function fromFragment(fragment: ContextFragment, options: SerializeOptions = {}): SerializedFragment {
  return serialize(copyFragment(fragment, refuseLazy), options);
}

/**
 * A fragment from its JSON.
 *
 * @throws invalid-fragment for an unknown type, naming it, or a missing or mistyped field, naming it
 */
export function toFragment(flat: SerializedFragment, options: SerializeOptions = {}): ContextFragment {
  return hydrate(plain(flat), options);
}

/** Data as JSON, each fragment in it as {@link fromFragment} writes it. */
export function encodeSerializedValue(value: FragmentData, options: SerializeOptions = {}): unknown {
  const { data } = copyFragment(fragment('value', value), refuseLazy);
  return encode(data?.[0], options);
}

/**
 * A fragment of one of the known types, with its codec.
 * @internal
 */
export function serializable(type: SerializableType, fields: Fields): ContextFragment {
  const made: { name: string; data: FragmentData; codec?: BoundCodec } = {
    name: type,
    data: walkWith(PLAIN, `${type}()`, (walk) => dataFrom(type, fields, walk)),
  };
  made.codec = codecFor(type, made);
  return brand(made);
}

function codecFor(
  type: SerializableType,
  fragment: ContextFragment,
  options: SerializeOptions = {},
): BoundCodec {
  return {
    encode: () => {
      const flat = mapFields(type, fieldsFrom(type, fragment.data), (value, kind) =>
        encode(value, options, kind === '*'),
      );
      return { type, ...fieldsOf(type, flat) };
    },
    decode: () => fragment.data,
    [BIND]: (copy, how) => codecFor(type, copy, how),
  };
}

function serialize(fragment: ContextFragment, options: SerializeOptions): SerializedFragment {
  const { name, codec } = fragment;
  if (isMessageFragment(fragment)) throw messageError(name);
  const subject = `Fragment "${name}"`;
  const entry = own(options.registry, name);
  if (entry?.fromFragment) {
    const write = (): unknown => entry.fromFragment?.(fragment, options);
    return checkForm(asked(subject, 'registry', write), name, options);
  }
  if (!codec)
    throw error(own(FORMS, name) ? `${subject} is missing codec` : `Unsupported fragment name: ${name}`, {
      name,
    });
  const encode = (): unknown => ((codec as BoundCodec)[BIND]?.(fragment, options) ?? codec).encode();
  return checkForm(asked(subject, 'codec', encode), name, options);
}

/** What code of the app gives; what it throws becomes an error that says whose it was. */
function asked<T>(subject: string, whose: string, ask: () => T): T {
  return walkWith(PLAIN, subject, ask, [whose]);
}

/** What a codec gave, if it is something that {@link toFragment} will read. */
function checkForm(encoded: unknown, name: string, { registry }: SerializeOptions): SerializedFragment {
  const flat = plain(encoded);
  if (!isSerialized(flat))
    throw error(`Fragment "${name}" codec must encode to a serialized fragment object`, { name });
  return own(registry, flat.type) ? flat : { type: flat.type, ...fieldsOf(flat.type, flat) };
}

/** Data with its fragments written; where any data is read back, records that look like a written one say so. */
function encode(value: unknown, options: SerializeOptions, marked = false): unknown {
  if (typeof value === 'object' && value !== null && isBuilt(value)) return serialize(value, options);
  const data = mapData(value, (item) => encode(item, options, marked));
  return marked && isKnown(data, options) ? { type: RECORD, record: data } : data;
}

function hydrate(flat: unknown, options: SerializeOptions): ContextFragment {
  if (!isSerialized(flat))
    throw error('A serialized fragment is an object with a string type.', { path: '' });
  if (isMessageType(flat.type)) throw messageError(flat.type);
  const entry = own(options.registry, flat.type);
  if (entry) {
    const read = (): ContextFragment => entry.toFragment(flat, options);
    return copyFragment(asked(`Serialized fragment "${flat.type}"`, 'registry', read));
  }
  const fields = mapFields(flat.type, fieldsOf(flat.type, flat), (value, kind) =>
    kind === '*' ? decode(value, options) : value,
  );
  return serializable(flat.type as SerializableType, fields);
}

/** The type of a record that only looks like a serialised fragment. */
const RECORD = 'contextree:record';

/** Data in which the serialised fragments are fragments again. A record of a type that nobody knows is a record. */
function decode(value: unknown, options: SerializeOptions): unknown {
  if (isKnown(value, options) && value.type !== RECORD) return hydrate(value, options);
  const data = isSerialized(value) && value.type === RECORD ? value['record'] : value;
  return mapData(data, (item) => decode(item, options));
}

function isKnown(value: unknown, { registry }: SerializeOptions): value is SerializedFragment {
  if (!isSerialized(value)) return false;
  const { type } = value;
  const isOurs = type === RECORD || isMessageType(type) || own(FORMS, type) !== undefined;
  return isOurs || own(registry, type) !== undefined;
}

/** The fields that are there, each changed by what kind it is of. */
function mapFields(
  type: string,
  fields: unknown,
  change: (value: unknown, kind: Field['kind']) => unknown,
): Fields {
  const mapped: Record<string, unknown> = {};
  for (const { name, kind } of formOf(type)) {
    const value = isRecord(fields) ? own(fields, name) : undefined;
    if (value !== undefined) mapped[name] = change(value, kind);
  }
  return mapped;
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
  if (!form) throw error(`Unsupported serialized fragment type: ${type}`, { type });
  return form.split(' ').map((field) => {
    const [, name = '', kind = '', optional] = /^(\w+)(\W*?)(\??)$/.exec(field) ?? [];
    return { name, kind: kind as Field['kind'], optional: optional === '?' };
  });
}

/** The fields that the type has, in its order; others are dropped. */
function fieldsOf(type: string, flat: Fields): Fields {
  const fields: Record<string, unknown> = {};
  for (const { name, kind, optional } of formOf(type)) {
    const value = own(flat, name);
    if (optional && isEmpty(value)) continue;
    if (!fits(kind, value)) {
      throw error(
        `Serialized fragment "${type}": "${name}" must be ${KINDS[kind]}, not ${value === null ? 'null' : typeof value}`,
        {
          type,
          field: name,
        },
      );
    }
    fields[name] = value;
  }
  return fields;
}

function fits(kind: Field['kind'], value: unknown): boolean {
  if (kind === '') return typeof value === 'string';
  if (kind === '{}') return isRecord(value) && Object.values(value).every((item) => typeof item === 'string');
  return Array.isArray(value) && (kind === '*' || value.every((item) => typeof item === 'string'));
}

/** Fields as the fragment holds them. */
function dataFrom(type: SerializableType, fields: Fields, walk: Walk): FragmentData {
  if (type === 'hint') return fields.text as FragmentData;
  if (type === 'role') return fields.content as FragmentData;
  if (type === 'glossary')
    return Object.entries(fields.entries as Fields).map(([term, expression]) => ({
      term,
      expression,
    })) as FragmentData;
  const data = formOf(type).map(({ name, optional }) => {
    walk.path[0] = name;
    return { name, optional, value: fields[name] };
  });
  const present = data.filter(({ optional, value }) => !(optional && isEmpty(value)));
  return Object.fromEntries(present.map(({ name, value }) => [name, value])) as FragmentData;
}

/** The fields that the data was made from. */
function fieldsFrom(type: SerializableType, data: FragmentData): FragmentData {
  if (type === 'hint') return { text: data };
  if (type === 'role') return { content: data };
  if (type !== 'glossary' || !Array.isArray(data)) return data;
  return {
    entries: Object.fromEntries(
      data.map(({ term, expression }: Record<string, FragmentData>) => [term, expression]),
    ),
  };
}

/** A copy that is surely JSON: no cycles, no getters, no functions. */
function plain(value: unknown): unknown {
  return walkWith(PLAIN, 'Serialized fragment', (walk) => copyValue(value, walk));
}

const PLAIN = { code: 'invalid-fragment', maxDepth: MAX_DEPTH, json: true } as const;

function own<T>(table: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return table && Object.hasOwn(table, key) ? table[key] : undefined;
}

function isSerialized(value: unknown): value is SerializedFragment {
  return isRecord(value) && typeof own(value, 'type') === 'string';
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

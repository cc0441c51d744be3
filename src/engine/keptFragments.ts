import { copyOf } from '../copy.ts';
import { isRecord, reasonOf } from '../errors.ts';
import { copyFragment, refuseLazy } from '../fragment/copy.ts';
import { brand, type ContextFragment, type FragmentData } from '../fragment/fragment.ts';

// The fragments that `persistFragments` keeps with a chat, as records in the form of `fromFragment()`. A fragment's own codec
// writes its record, and a fragment that was read has a codec that returns its record. Loaded where fragments are kept. Not with
// `toFragment()`: an app without builders would load its code (1.5 kB) with its first page, where bundlers leave it out now.

/** The types that a record may have: those of the builders. */
const TYPES: ReadonlySet<unknown> = new Set(
  (
    'term hint guardrail explain example clarification workflow quirk styleGuide analogy glossary role principle ' +
    'policy identity persona alias preference correction'
  ).split(' '),
);

type Fields = Readonly<Record<string, unknown>>;

/** The fields of a fragment, and its id for `unset()`. */
type KeptRecord = Fields & { readonly id?: string };

/** The same key for equal fragments; a fragment that can't be serialised equals only itself. */
export function keyOf(fragment: ContextFragment): unknown {
  try {
    return JSON.stringify(recordOf(fragment));
  } catch {
    return fragment;
  }
}

function recordOf(fragment: ContextFragment): KeptRecord {
  const { name, codec } = copyFragment(fragment, refuseLazy);
  const record = codec && copyOf(codec.encode(), `Fragment "${reasonOf(name)}"`, RULES);
  if (isRecord(record) && TYPES.has(record.type)) return record;
  throw new Error(
    codec ? 'its codec encodes to no known type' : `Unsupported fragment name: ${reasonOf(name)}`,
  );
}

const RULES = { code: 'invalid-fragment', maxDepth: 128, json: true } as const;

/** Reads the records that {@link write} wrote. `unread`: records of newer versions, which are written back unchanged. */
export function read(records: unknown): {
  readonly fragments: readonly ContextFragment[];
  readonly unread: readonly unknown[];
} {
  const all = (Array.isArray(records) ? records : []).map((record) => [record, fragmentOf(record)] as const);
  const unread = all.flatMap(([record, fragment]) => (fragment ? [] : [record as unknown]));
  return { fragments: all.flatMap(([, fragment]) => fragment ?? []), unread };
}

function fragmentOf(record: unknown): ContextFragment | undefined {
  if (!isRecord(record) || !TYPES.has(record.type)) return undefined;
  const { id, ...flat } = record;
  try {
    const fragment = copyFragment(made(flat));
    return typeof id === 'string' ? brand({ ...fragment, id }) : fragment;
  } catch {
    return undefined;
  }
}

function made(flat: Fields): ContextFragment {
  const { type, ...fields } = flat;
  const data = dataOf(type, fields);
  return brand({ name: String(type), data, codec: { encode: () => flat, decode: () => data } });
}

/** The fields, as the builder of that type stores them. */
function dataOf(type: unknown, fields: Fields): FragmentData {
  if (type === 'hint') return fields.text as FragmentData;
  if (type === 'role') return fields.content as FragmentData;
  if (type !== 'glossary') return fieldsOf(fields);
  const entries = Object.entries(fields.entries as Fields);
  return entries.map(([term, expression]) => ({ term, expression })) as never;
}

/** Marks a record that is data and no fragment. */
const RECORD = 'contextree:record';

function valueOf(value: unknown): FragmentData {
  if (Array.isArray(value)) return value.map(valueOf);
  if (!isRecord(value)) return value as FragmentData;
  if (value.type === RECORD) return fieldsOf(value.record as Fields);
  return TYPES.has(value.type) ? made(value) : fieldsOf(value);
}

function fieldsOf(record: Fields): FragmentData {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, valueOf(value)]));
}

/**
 * Writes records of the fragments, equal ones once. `skip` is called for those that can't be kept (functions, unknown names).
 */
export function write(
  fragments: readonly ContextFragment[],
  unread: readonly unknown[],
  skip: (name: string, reason: string) => void,
): unknown[] {
  const records = new Map<string, KeptRecord>();
  for (const fragment of fragments) {
    try {
      const record = recordOf(fragment);
      const key = JSON.stringify(record);
      const id = fragment.id ?? records.get(key)?.id;
      records.set(key, id === undefined ? record : { ...record, id });
    } catch (error) {
      skip(fragment.name, reasonOf(error));
    }
  }
  return [...records.values(), ...unread];
}

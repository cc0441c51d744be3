import { copyOf } from '../copy.ts';
import { reasonOf } from '../errors.ts';
import { copyFragment, refuseLazy } from '../fragment/copy.ts';
import { brand, isRecord, type ContextFragment, type FragmentData } from '../fragment/fragment.ts';

/**
 * Fragments that `persistFragments` keeps with a chat.
 *
 * A record is what `fromFragment()` gives: the fragment's own codec writes it, so an app that keeps no fragments, and one
 * that makes none, loads no serialiser. A fragment that was read has its record for a codec, and is written back as it came.
 */
export interface Keeping {
  /** What makes two fragments equal; a fragment that can't be serialised is equal only to itself. */
  keyOf(fragment: ContextFragment): unknown;
  /** What {@link write} wrote. `unread`: records that only a newer version can read; they are written back as they came. */
  read(records: unknown): {
    readonly fragments: readonly ContextFragment[];
    readonly unread: readonly unknown[];
  };
  /** Records of the fragments, equal ones once; those that can't be kept (functions, unknown names) are named to `skip`. */
  write(
    fragments: readonly ContextFragment[],
    unread: readonly unknown[],
    skip: (name: string, reason: string) => void,
  ): unknown[];
}

export const keeping: Keeping = { keyOf, read, write };

/** Which types a record may have: those of the builders. */
const TYPES: ReadonlySet<unknown> = new Set(
  (
    'term hint guardrail explain example clarification workflow quirk styleGuide analogy glossary role principle ' +
    'policy identity persona alias preference correction'
  ).split(' '),
);

type Fields = Readonly<Record<string, unknown>>;

/** A fragment as it is kept: its fields and, so that `unset(id)` finds it after a reload, its id. */
type KeptRecord = Fields & { readonly id?: string };

function keyOf(fragment: ContextFragment): unknown {
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

function read(records: unknown): ReturnType<Keeping['read']> {
  const fragments: ContextFragment[] = [];
  const unread: unknown[] = [];
  for (const record of Array.isArray(records) ? records : []) {
    const fragment = fragmentOf(record);
    if (fragment) fragments.push(fragment);
    else unread.push(record);
  }
  return { fragments, unread };
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

/** The fields as the builder of that type holds them. */
function dataOf(type: unknown, fields: Fields): FragmentData {
  if (type === 'hint') return fields.text as FragmentData;
  if (type === 'role') return fields.content as FragmentData;
  if (type !== 'glossary') return fieldsOf(fields);
  return Object.entries(fields.entries as Fields).map(([term, expression]) => ({
    term,
    expression,
  })) as never;
}

/** A record of that type only looks like a fragment. */
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

function write(...[fragments, unread, skip]: Parameters<Keeping['write']>): unknown[] {
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

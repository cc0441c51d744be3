import { reasonOf } from '../errors.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import { fromFragment, toFragment, type SerializedFragment } from '../fragment/serialize.ts';

/** The fragments that `persistFragments` keeps with a chat. */
export interface KeptFragments {
  readonly fragments: readonly ContextFragment[];
  /** Records that only a newer version can read: they are written back as they came. */
  readonly unread: readonly unknown[];
}

/** A fragment as it is kept: its fields and, so that `unset(id)` finds it after a reload, its id. */
interface KeptRecord extends SerializedFragment {
  readonly id?: string;
}

/** What {@link writeKept} wrote. */
export function readKept(records: unknown): KeptFragments {
  const read = (Array.isArray(records) ? records : []).map((record: unknown) => ({
    record,
    fragment: fromRecord(record),
  }));
  return {
    fragments: read.flatMap(({ fragment }) => fragment ?? []),
    unread: read.flatMap(({ record, fragment }) => (fragment ? [] : [record])),
  };
}

function fromRecord(record: unknown): ContextFragment | undefined {
  try {
    const { id } = record as KeptRecord;
    const fragment = toFragment(record as KeptRecord);
    return typeof id === 'string' ? { ...fragment, id } : fragment;
  } catch {
    return undefined;
  }
}

/** Records of the fragments, equal ones once; those that can't be kept (functions, unknown names) are named to `skip`. */
export function writeKept(
  { fragments, unread }: KeptFragments,
  skip: (name: string, reason: string) => void,
): unknown[] {
  const records = new Map<string, KeptRecord>();
  for (const fragment of fragments) {
    try {
      const record = fromFragment(fragment);
      const key = JSON.stringify(record);
      const id = fragment.id ?? records.get(key)?.id;
      records.set(key, id === undefined ? record : { ...record, id });
    } catch (error) {
      skip(fragment.name, reasonOf(error));
    }
  }
  return [...records.values(), ...unread];
}

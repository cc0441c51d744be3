import { shownVersion, sumOfBody, type MessageRecord } from '../graph/graph.ts';
import { recordsOf } from '../graph/join.ts';
import type { StoreDelta } from '../store/store.ts';
import type { Writer } from './writer.ts';

/**
 * All that this page knows of a chat, as records that another store can take: words included, also of what could not be saved,
 * and beside them the log of operations. An answer that grows is one that was cut off here. Loaded when first asked for.
 */
export async function accountOf(
  { replica, view }: Pick<Writer, 'replica' | 'view'>,
  operations: StoreDelta['local'],
): Promise<StoreDelta> {
  await view.loadBodies([...replica.chat.messages.keys()]);
  const { messages, ends, marks } = recordsOf(replica.chat);
  return {
    messages: messages.map((record) => unplaced(settled(replica, record))),
    ends: ends.map(unplaced),
    marks: marks.map(unplaced),
    local: { ...operations, view: view.toStore() },
  };
}

/** Nothing of it grows, where it goes. */
function settled(replica: Writer['replica'], record: MessageRecord): MessageRecord {
  const shown = shownVersion(record);
  if (shown.status !== 'streaming') return record;
  const body = replica.body(record.key);
  const words = body ? { ...replica.version(body, 'interrupted', shown.rev), by: shown.by } : shown;
  const version = { ...words, status: 'interrupted' as const, sum: body ? sumOfBody(body) : shown.sum };
  return { ...record, versions: [...record.versions.slice(0, -1), version] };
}

/** Without the number that it has in its database. */
function unplaced<R extends { readonly seq?: number }>({ seq: _seq, ...record }: R): R {
  return record as R;
}

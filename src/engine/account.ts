import { shownVersion, sumOfBody, type MessageRecord } from '../graph/graph.ts';
import { recordsOf } from '../graph/join.ts';
import type { StoreDelta } from '../store/store.ts';
import { unplaced, type Replica } from './replica.ts';
import type { Writer } from './writer.ts';

/**
 * All that this page knows of a chat, as records for another store: with all bodies, unsaved ones too, and with the operation
 * log. An answer that grows here counts as interrupted. Loaded on first use.
 */
export async function accountOf(writer: Writer): Promise<StoreDelta> {
  const { replica, view } = writer;
  await view.loadBodies([...replica.chat.messages.keys()]);
  const { messages, ...records } = unplaced(recordsOf(replica.chat));
  const settled = messages.map((record) => settledIn(replica, record));
  return { ...records, messages: settled, local: writer.local() };
}

function settledIn(replica: Replica, record: MessageRecord): MessageRecord {
  const shown = shownVersion(record);
  if (shown.status !== 'streaming') return record;
  const body = replica.body(record.key);
  const words = body ? { ...replica.version(body, 'interrupted', shown.rev), by: shown.by } : shown;
  const version = { ...words, status: 'interrupted' as const, sum: body ? sumOfBody(body) : shown.sum };
  return { ...record, versions: [...record.versions.slice(0, -1), version] };
}

import { hasWords, shownVersion, type Mark, type MessageRecord } from '../../graph/graph.ts';
import { compareMarks } from '../../graph/join.ts';
import { chatFacts } from '../../graph/marks.ts';
import type { ChatRow } from '../store.ts';
import type { StoredChat } from './layout.ts';

/**
 * What a list says of a chat, without its records.
 *
 * Title, metadata and the count of messages follow from the records, and to read a chat of ten thousand messages for one line
 * of a list would be a waste. So the marks that speak of the chat as a whole are kept with its row, and messages are counted
 * on by what each commit changes. How many branches there are is what the last page that wrote told: branches are
 * derived, and a store derives nothing.
 */
export interface Totals {
  readonly userId: string;
  /** The values of title, fields, usage and beginnings, by the ids of their marks. */
  readonly said: readonly (readonly [id: string, value: unknown])[];
  /** When something was first and last written, ms since epoch. */
  readonly begunAt: number;
  readonly updatedAt: number;
  readonly messages: number;
  readonly branches: number;
}

/** What a commit changed of a record: as it was, undefined for a new one, and as it is. */
export interface Changed<T, Next = T> {
  readonly before: T | undefined;
  readonly after: Next;
}

/** What a commit changed of a chat. */
export interface TotalsChange {
  /** Who wrote it, and when: ms since epoch. */
  readonly userId: string;
  readonly now: number;
  readonly messages: readonly Changed<MessageRecord>[];
  /** Marks, and what says nothing here. */
  readonly facts: readonly { readonly after: object }[];
  /** How many branches its author shows, where that was told. */
  readonly branchCount?: number | undefined;
}

/** The totals after a commit; those of a chat that begins where there were none. */
export function movedTotals(totals: Totals | undefined, change: TotalsChange): Totals {
  const said = new Map(totals?.said);
  for (const { after } of change.facts as readonly Changed<Mark>[]) {
    if (!OF_CHAT.test(after.id)) continue;
    // What is said last stands last.
    said.delete(after.id);
    said.set(after.id, after.value);
  }
  let messages = totals?.messages ?? 0;
  for (const { before, after } of change.messages) messages += counted(after) - counted(before);
  return {
    userId: totals?.userId ?? change.userId,
    said: [...said],
    begunAt: totals?.begunAt ?? change.now,
    updatedAt: change.now,
    messages,
    branches: change.branchCount ?? totals?.branches ?? 1,
  };
}

/** Marks that speak of the chat as a whole. */
const OF_CHAT = /^(?:title$|(?:field|usage|beginning) )/;

/** The totals of all that is in a chat. */
export function totalsOf(
  messages: readonly MessageRecord[],
  marks: readonly Mark[],
  change: Omit<TotalsChange, 'messages' | 'facts'>,
): Totals {
  return movedTotals(undefined, {
    ...change,
    messages: messages.map((after) => ({ before: undefined, after })),
    facts: marks.toSorted(compareMarks).map((after) => ({ after })),
  });
}

/** What a list shows of a chat; undefined for a deleted one. */
export function shownRow({ id, totals }: StoredChat): ChatRow | undefined {
  if (!totals) return undefined;
  const { userId, said, messages, branches, begunAt, updatedAt } = totals;
  const { title, metadata, beginning } = chatFacts(said);
  return {
    id,
    userId,
    title,
    metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
    messageCount: messages,
    branchCount: branches,
    createdAt: beginning?.createdAt ?? begunAt,
    updatedAt,
  };
}

/** 1 for a message in which something was said. */
function counted(record: MessageRecord | undefined): 0 | 1 {
  return record && hasWords(shownVersion(record)) ? 1 : 0;
}

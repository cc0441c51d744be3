import type { UIMessage } from 'ai';
import { eachRecord, recordAt, type ChatValue } from '../graph/graph.ts';
import type { Finding } from '../graph/verify.ts';
import { about, unreachedEnds, verify, verifyBodies } from '../graph/verify.ts';
import type { Damage } from '../store/store.ts';
import type { Writer } from './writer.ts';

// Examining a chat, in the store and on this page. Loaded on first use.

/** The result of a repair, or of its preview. */
export interface Repair {
  /** What is wrong; the repair mends those with `mends`. Empty for an intact chat. */
  readonly findings: readonly Finding[];
}

/** Examines a chat and repairs what can be repaired; a preview only reports it. */
export async function repairChat(writer: Writer, isPreview: boolean): Promise<Repair> {
  const { desk, replica, view } = writer;
  const damages = (await desk.store.examine?.(desk.chatId, { repair: !isPreview })) ?? [];
  await writer.others.pull();
  const { chat, branches, growing } = replica;
  const ways = [...branches.live, ...branches.deleted];
  const records = [...eachRecord(chat)];
  const keys = records.map(({ key }) => key);
  const bodies = await desk.store.bodies(desk.chatId, keys, records);
  const words = new Map([...bodies].map(([key, { message }]) => [key, message]));
  const findings = [
    ...damages.flatMap((damage) => findingsOf(damage, chat, words)),
    ...verify(chat, ways, growing),
    ...verifyBodies(chat, records, words),
  ];
  const lost = unreachedEnds(chat, ways, growing);
  if (!isPreview && lost.length > 0) {
    const base = branches.live.length > 0 ? view.nameOf(undefined) : undefined;
    const made = lost.map((one) => writer.newBranch(one.key, one.chat, base));
    const delta = { ends: made.flatMap(({ ends }) => ends), marks: made.flatMap(({ marks }) => marks) };
    await writer.commit(delta).strict;
  }
  return { findings };
}

/** The store's report, as findings. `verifyBodies()` finds lost bodies. */
function findingsOf(
  { kind, id, key, reason, isMended }: Damage,
  chat: ChatValue,
  words: ReadonlyMap<string, UIMessage>,
): Finding[] {
  const record = kind === 'file' || kind === 'body' ? recordAt(chat, key ?? id) : undefined;
  if (!record) return [{ kind: 'damaged-record', id, text: reason, mends: isMended }];
  if (kind === 'file') return [about(record, 'missing-file', 'misses a file: its bytes are lost.')];
  if (!words.has(id)) return [];
  return [about(record, 'changed-body', 'has other words than those that were written.')];
}

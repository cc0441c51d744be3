import { setField } from '../../copy.ts';
import { ContextError, reasonOf } from '../../errors.ts';
import {
  type ChatDelta,
  type EndsRecord,
  hasWords,
  type Mark,
  type MessageRecord,
  shownVersion,
  type Version,
} from '../../graph/graph.ts';
import {
  compareMarks,
  compareVersions,
  isSameEnds,
  unitedEnds,
  unitedMessage,
  withoutPassed,
} from '../../graph/join.ts';
import type { ChatRecords, CommitOptions, LocalRecords } from '../store.ts';
import { forgetDraft, readDrafts } from './drafts.ts';
import {
  type Meta,
  PACK,
  type Rows,
  type StoredBody,
  type StoredChat,
  type StoredFact,
  type StoredMessage,
  summed,
  only,
  within,
} from './layout.ts';
import {
  answer,
  type Changed,
  type Fact,
  deadKeys,
  factIn,
  factsOf,
  findMessages,
  movedTotals,
  packs,
  putFile,
  readBodies,
  readFactRows,
  readMessages,
  readPlace,
  referToBlobs,
  startOf,
} from './records.ts';

/** A delta, prepared outside of the transaction: bodies are JSON, with names in place of their files. */
export interface Ready extends ChatDelta {
  readonly chatId: string;
  readonly local?: LocalRecords | undefined;
  /** By {@link nameOfVersion}. */
  readonly bodies: ReadonlyMap<string, ReadyBody>;
  /** Bytes of files by their hash (`files.ts`). */
  readonly files: Map<string, Uint8Array>;
}

/** A body on its way to the disk. */
export interface ReadyBody {
  readonly key: string;
  readonly version: Version;
  /** JSON of its message. */
  readonly json: string;
}

/** The name of a version, unique in a delta. */
export function nameOfVersion(key: string, { rev, by, sum }: Pick<Version, 'rev' | 'by' | 'sum'>): string {
  return `${key} ${rev} ${sum} ${by}`;
}

/**
 * Joins a delta with the records of a chat, by the rules of `graph/join.ts`. Returns the caller's answer, and whether anything
 * changed. All that is needed is read at once, so a turn is one round trip to the database, and then its rows.
 */
export async function commit(
  rows: Rows,
  ready: Ready,
  options: CommitOptions,
): Promise<{ readonly records: ChatRecords; readonly isChanged: boolean }> {
  const known = await readKnown(rows, ready, options);
  const { chat, messages, facts } = known;
  expectPlace(known, ready, options);
  let { last: seq } = known;
  const lost = messages.size > 0 ? await wordless(rows, known, ready) : NONE;
  const stored: Changed<StoredMessage>[] = [];
  for (const { before, after: record } of changedMessages(known, ready, lost)) {
    const after = { ...record, seq: (seq += 1) };
    stored.push({ before, after });
    messages.set(after.key, after);
  }
  const newFacts = changedFacts(known, ready);
  for (const [hash, bytes] of ready.files) await putFile(rows, hash, bytes);
  await keepLate(rows, known, ready);
  for (const [name, value] of Object.entries(ready.local ?? {})) {
    if (value === undefined) rows.delete('local', [chat.id, name]);
    else rows.put('local', value, [chat.id, name]);
  }
  if (stored.length + newFacts.size === 0) return { records: await answerOf(rows, known), isChanged: false };
  if (options.expect) expectEnds(known, options.expect);
  await putMessages(rows, chat.id, stored, ready.bodies);
  for (const [name, { kind, record }] of newFacts) {
    const fact = { kind, record: { ...record, seq: (seq += 1) } };
    putFact(rows, chat.id, fact);
    facts.set(name, fact);
  }
  const { marks } = factsOf(newFacts.values());
  const change = { ...options, now: Date.now(), messages: stored, marks };
  const next: StoredChat = {
    ...chat,
    ...known.meta,
    seq: (seq += 1),
    totals: movedTotals(chat.totals, change),
    keys: [...new Set([...chat.keys, ...chatKeysOf(ready)])],
  };
  rows.put('chats', next);
  return { records: await answerOf(rows, { ...known, chat: next, meta: next }), isChanged: true };
}

/** The stored records that a delta touches, and what changed since its author read. */
interface Known {
  readonly chat: StoredChat;
  readonly meta: Meta;
  /** Whether others wrote since the caller read. */
  readonly isLater: boolean;
  readonly messages: Map<string, StoredMessage>;
  /** By {@link nameOfFact}. */
  readonly facts: Map<string, Fact>;
  /** The last number of the database: if the row of a chat was lost, the counter may be behind. */
  readonly last: number;
}

async function readKnown(rows: Rows, ready: Ready, options: CommitOptions) {
  const { chatId } = ready;
  const asked: Promise<readonly StoredFact[]>[] = [];
  const ask = (kind: Fact['kind'], { id, chat }: Fact['record']): void =>
    void asked.push(rows.all('facts', only([chatId, kind, id, chat])));
  for (const record of ready.ends) ask('ends', record);
  for (const mark of ready.marks) ask('mark', mark);
  for (const record in options.expect) asked.push(rows.all('facts', within(chatId, 'ends', record)));
  const hints = new Map<string, number>();
  for (const { key, seq } of ready.messages)
    if (seq !== undefined && seq <= options.since) hints.set(key, seq);
  const [{ chat, meta }, found, ...handed] = await Promise.all([
    readPlace(rows, chatId),
    findMessages(rows, chatId, [...hints.keys()], (key) => hints.get(key)),
    ...asked,
  ]);
  const since = startOf(chat, options.since);
  // Usually nobody else wrote since. If the chat's row is missing, read the records anyway.
  const isLater = chat.seq === 0 || chat.seq > since;
  const [recent, later] = isLater
    ? await Promise.all([readMessages(rows, chatId, since), readFactRows(rows, chatId, since)])
    : [[], []];
  const facts = new Map<string, Fact>();
  let last = Math.max(meta.seq, since, recent.at(-1)?.seq ?? 0);
  for (const row of [...later, ...handed.flat()]) {
    if (row.seq <= chat.from) continue;
    const fact = factIn(row);
    if (fact) facts.set(nameOfFact(fact), fact);
    last = Math.max(last, row.seq);
  }
  const messages = new Map<string, StoredMessage>();
  for (const message of [...found.values(), ...recent])
    if (message.seq > chat.from) messages.set(message.key, message);
  return { chat, meta, isLater, messages, facts, last };
}

/** The name of a fact, unique in a chat. */
function nameOfFact({ kind, record: { id, chat } }: Fact): string {
  return `${kind} ${id} ${chat}`;
}

/** The caller's answer: what changed since they read, and what they passed; if others wrote since, also what drafts add. */
function answerOf(rows: Rows, { meta, chat, facts, messages, isLater }: Known): Promise<ChatRecords> {
  const records = { ...factsOf(facts.values()), messages: [...messages.values()] };
  return answer(rows, meta, chat, records, isLater ? records.messages : undefined);
}

const NONE: ReadonlySet<string> = new Set();

/** Messages that the disk has without their words, although somebody wrote them, and whose words a delta brings. */
async function wordless(rows: Rows, { chat, messages }: Known, { bodies }: Ready): Promise<Set<string>> {
  const brought = new Map<number, string>();
  for (const { key, version } of bodies.values()) {
    const stored = messages.get(key);
    if (stored && compareVersions(shownVersion(stored), version) === 0) brought.set(stored.seq, key);
  }
  for (const seq of (await readBodies(rows, chat.id, [...brought.keys()])).keys()) brought.delete(seq);
  return new Set(brought.values());
}

/** The messages that change; `before` is the stored one. */
function changedMessages(
  known: Known,
  { messages }: Ready,
  lost: ReadonlySet<string>,
): Changed<StoredMessage, MessageRecord>[] {
  const changed = new Map<string, Changed<StoredMessage, MessageRecord>>();
  for (const record of messages) {
    const { before = known.messages.get(record.key), after = before } = changed.get(record.key) ?? {};
    const next = after ? unitedMessage(after, record) : record;
    const versions = keptOf(next.versions);
    const isSame =
      versions.length === after?.versions.length &&
      versions.every((one, i) => compareVersions(one, after.versions[i] as Version) === 0);
    const isPlaced = after?.parent === next.parent && after.at === next.at;
    if (isSame && isPlaced && !lost.has(record.key)) continue;
    changed.set(record.key, { before, after: { ...next, versions } });
  }
  return [...changed.values()];
}

/** The versions to keep: the shown one, or all while none has content. */
function keptOf(versions: readonly Version[]): readonly Version[] {
  const sorted = versions.length > 1 ? versions.toSorted(compareVersions) : versions;
  const shown = sorted.findLast(hasWords);
  return shown ? [shown] : sorted;
}

/** The branch records with other ends, and the greater marks, by {@link nameOfFact}. */
function changedFacts(known: Known, { ends, marks, messages }: Ready): ReadonlyMap<string, Fact> {
  const changed = new Map<string, Fact>();
  const parents = new Map<string, string | null>();
  // The end of a turn that is sent again may be passed already, so include the known parents.
  for (const { key, parent } of [...known.messages.values(), ...messages]) parents.set(key, parent);
  for (const record of ends) {
    const name = nameOfFact({ kind: 'ends', record });
    const before = (changed.get(name) ?? known.facts.get(name))?.record as EndsRecord | undefined;
    const next = withoutPassed(before ? unitedEnds(before, record) : record, parents);
    if (!before || !isSameEnds(before, next)) changed.set(name, { kind: 'ends', record: next });
  }
  for (const record of marks) {
    const name = nameOfFact({ kind: 'mark', record });
    const before = (changed.get(name) ?? known.facts.get(name))?.record as Mark | undefined;
    if (!before || compareMarks(before, record) < 0) changed.set(name, { kind: 'mark', record });
  }
  return changed;
}

function chatKeysOf({ messages, ends, marks }: ChatDelta): Set<string> {
  const keys = new Set<string>();
  for (const records of [messages, ends, marks]) for (const { chat } of records) keys.add(chat);
  return keys;
}

/** Refuses a delta for another database or generation, a deleted chat, or another user's chat. */
function expectPlace({ chat, meta }: Known, ready: Ready, options: CommitOptions): void {
  const { id: chatId, totals } = chat;
  const { database, generation } = meta;
  const here = { chatId, database, generation };
  const isRead = options.database !== '';
  if (isRead && options.database !== database) {
    const message = `Chat "${reasonOf(chatId)}" was read from a database that is gone: the browser cleared it.`;
    throw new ContextError('data-loss', message, { details: here });
  }
  const deleted = deadKeys(chat);
  const keys = deleted.length > 0 ? chatKeysOf(ready) : undefined;
  if ((isRead && options.generation !== generation) || deleted.some((key) => keys?.has(key))) {
    const message = `Chat "${reasonOf(chatId)}" was deleted since it was read.`;
    throw new ContextError('chat-deleted', message, { details: { ...here, deleted } });
  }
  if (!totals || totals.userId === options.userId) return;
  const message = `chat "${reasonOf(chatId)}" belongs to user "${totals.userId}", not "${reasonOf(options.userId)}"`;
  throw new ContextError('wrong-user', message, { details: { chatId, userId: totals.userId } });
}

/** Refuses a write that expects other ends of a branch record. */
function expectEnds({ chat, facts }: Known, expected: CommitOptions['expect'] & object): void {
  const chatId = chat.id;
  const ends: Record<string, readonly string[]> = {};
  for (const [id, keys] of Object.entries(expected)) {
    const records = factsOf(facts.values()).ends.filter((record) => record.id === id);
    const known = new Set(records.flatMap((record) => record.keys));
    const isSame = new Set(keys).size === known.size && keys.every((key) => known.has(key));
    if (!isSame) setField(ends, id, [...known]);
  }
  if (Object.keys(ends).length === 0) return;
  const message = `A branch of chat "${reasonOf(chatId)}" has moved on since it was read.`;
  throw new ContextError('head-moved', message, { details: { chatId, ends } });
}

/** Writes messages at their new numbers, with their bodies; a settled version that is replaced becomes a revision. */
async function putMessages(
  rows: Rows,
  chatId: string,
  changes: readonly Changed<StoredMessage>[],
  bodies: Ready['bodies'],
): Promise<void> {
  const seqs: number[] = [];
  let isNew = true;
  for (const { before } of changes) {
    if (before) isNew = false;
    if (before && hasWords(shownVersion(before))) seqs.push(before.seq);
  }
  if (!isNew) await forgetDrafts(rows, chatId, changes);
  const old = await readBodies(rows, chatId, seqs);
  const texts: (string | undefined)[] = [];
  for (const { before, after } of changes) {
    const ready = bodies.get(nameOfVersion(after.key, shownVersion(after)))?.json;
    const known = before && old.get(before.seq);
    const json = known && JSON.stringify(known.message);
    const isKept = before !== undefined && compareVersions(shownVersion(before), shownVersion(after)) === 0;
    if (before) {
      rows.delete('nodes', [chatId, before.seq]);
      rows.delete('bodies', [chatId, before.seq]);
      if (json && !isKept) await keepRevision(rows, chatId, after.key, shownVersion(before), json);
    }
    if (ready) referToBlobs(rows, chatId, ready, after.seq);
    const words = ready ?? (isKept ? json : undefined);
    texts.push(words && textOfBody(after, words));
  }
  // Many messages at once are packed at once; the last ones stay single, because a conversation still changes them.
  const packed = changes.length < 2 * PACK ? 0 : Math.floor(changes.length / PACK - 1) * PACK;
  for (let at = 0; at < packed; at += PACK)
    packs().putPack(
      rows,
      chatId,
      changes.slice(at, at + PACK).map(({ after }) => after),
      texts.slice(at, at + PACK),
    );
  for (let i = packed; i < changes.length; i += 1)
    putMessage(rows, chatId, (changes[i] as Changed<StoredMessage>).after, texts[i]);
}

/** Writes a message as a row of its own; `text`: its body, undefined for none. */
export function putMessage(
  rows: Rows,
  chatId: string,
  message: StoredMessage,
  text: string | undefined,
): void {
  rows.put('nodes', summed(JSON.stringify(message)), [chatId, message.seq]);
  if (text !== undefined) rows.put('bodies', text, [chatId, message.seq]);
}

/** The text of a body record; `json` is its message. */
export function textOfBody(record: StoredMessage, json: string): string {
  const { seq, key } = record;
  const { rev, by, sum } = shownVersion(record);
  const body: Omit<StoredBody, 'message'> = { seq, key, rev, by, sum };
  return summed(`${JSON.stringify(body).slice(0, -1)},"message":${json}}`);
}

/** Removes the drafts of settled messages. The draft of a closed page may be of a newer version than the stored one. */
async function forgetDrafts(rows: Rows, chatId: string, changes: readonly Changed<StoredMessage>[]) {
  const drafts = await readDrafts(rows, chatId);
  for (const { after } of changes)
    if ((drafts.get(after.key)?.rev ?? 0) < shownVersion(after).rev) forgetDraft(rows, chatId, after.key);
}

/** Saves versions that came too late to be shown. */
async function keepLate(rows: Rows, { chat, messages }: Known, { bodies }: Ready): Promise<void> {
  for (const { key, version, json } of bodies.values()) {
    const record = messages.get(key);
    if (!record || compareVersions(version, shownVersion(record)) >= 0) continue;
    referToBlobs(rows, chat.id, json, chat.seq);
    await keepRevision(rows, chat.id, key, version, json);
  }
}

/** Saves a settled version as a revision, and deletes the oldest above twenty. */
async function keepRevision(
  rows: Rows,
  chatId: string,
  key: string,
  { rev, by, sum, status }: Version,
  json: string,
): Promise<void> {
  if (sum === '' || status === 'streaming') return;
  const place = [chatId, key, rev, by, sum];
  const kept = await rows.keys('revisions', within(chatId, key));
  if (kept.some((one) => JSON.stringify(one) === JSON.stringify(place))) return;
  const head = JSON.stringify({ rev, by, status });
  rows.put('revisions', summed(`${head.slice(0, -1)},"message":${json}}`), place);
  const [oldest] = kept;
  if (kept.length >= REVISIONS && oldest) rows.delete('revisions', oldest);
}

const REVISIONS = 20;

/** Writes an end or a mark, at the number in its record. */
function putFact(rows: Rows, chatId: string, { kind, record: { seq = 0, ...record } }: Fact): void {
  const { id, chat } = record;
  const row: StoredFact = { chatId, kind, id, chat, seq, text: summed(JSON.stringify(record)) };
  rows.put('facts', row);
}

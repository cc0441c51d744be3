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
  type Parents,
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
  within,
} from './layout.ts';
import {
  answer,
  type Changed,
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
  const stored = changedMessages(known, ready, lost).map(({ before, after }) => ({
    before,
    after: { ...after, seq: (seq += 1) },
  }));
  for (const { after } of stored) messages.set(after.key, after);
  const spoken = changedFacts(known, ready);
  for (const [hash, bytes] of ready.files) await putFile(rows, hash, bytes);
  await keepLate(rows, known, ready);
  for (const [name, value] of Object.entries(ready.local ?? {})) {
    if (value === undefined) rows.delete('local', [chat.id, name]);
    else rows.put('local', value, [chat.id, name]);
  }
  if (stored.length + spoken.length === 0) return { records: await told(rows, known), isChanged: false };
  if (options.expect) expectEnds(known, options.expect);
  await putMessages(rows, chat.id, stored, ready.bodies);
  for (const { kind, after } of spoken) {
    const fact = factOf(chat.id, kind, after, (seq += 1));
    rows.put('facts', fact);
    facts.set(nameOfFact(kind, fact), fact);
  }
  const change = { ...options, now: Date.now(), messages: stored, facts: spoken };
  const { database, generation } = known.meta;
  const next: StoredChat = {
    ...chat,
    database,
    generation,
    seq: (seq += 1),
    totals: movedTotals(chat.totals, change),
    keys: [...new Set([...chat.keys, ...chatKeysOf(ready)])],
  };
  rows.put('chats', next);
  const meta = { ...known.meta, seq };
  return { records: await told(rows, { ...known, chat: next, meta }), isChanged: true };
}

/** The stored records that a delta touches, and what changed since its author read. */
interface Known {
  readonly chat: StoredChat;
  readonly meta: Meta;
  /** Whether others wrote since the caller read. */
  readonly isLater: boolean;
  readonly messages: Map<string, StoredMessage>;
  readonly facts: Map<string, StoredFact>;
  /** The last number of the database: if the row of a chat was lost, the counter may be behind. */
  readonly last: number;
}

async function readKnown(rows: Rows, ready: Ready, options: CommitOptions) {
  const { chatId } = ready;
  const asked: Promise<readonly (StoredFact | undefined)[]>[] = [];
  const factAt = async (kind: StoredFact['kind'], { id, chat }: EndsRecord | Mark) => [
    await rows.get<StoredFact>('facts', [chatId, kind, id, chat]),
  ];
  for (const record of ready.ends) asked.push(factAt('ends', record));
  for (const mark of ready.marks) asked.push(factAt('mark', mark));
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
  const facts = new Map<string, StoredFact>();
  let last = Math.max(meta.seq, since, recent.at(-1)?.seq ?? 0);
  for (const fact of [...later, ...handed.flat()]) {
    if (!fact || fact.seq <= chat.from) continue;
    facts.set(nameOfFact(fact.kind, fact), fact);
    last = Math.max(last, fact.seq);
  }
  const messages = new Map<string, StoredMessage>();
  for (const message of [...found.values(), ...recent])
    if (message.seq > chat.from) messages.set(message.key, message);
  return { chat, meta, isLater, messages, facts, last };
}

/** The name of a row, unique in its table. */
function nameOfFact(kind: StoredFact['kind'], { id, chat }: Pick<StoredFact, 'id' | 'chat'>): string {
  return `${kind} ${id} ${chat}`;
}

/** The caller's answer: what changed since they read, and what they passed; if others wrote since, also what drafts add. */
function told(rows: Rows, { meta, chat, facts, messages, isLater }: Known): Promise<ChatRecords> {
  const records = { ...factsOf([...facts.values()]), messages: [...messages.values()] };
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

/** A branch record or a mark that changes. */
interface ChangedFact extends Changed<EndsRecord | Mark> {
  readonly kind: StoredFact['kind'];
}

/** The branch records with other ends, and the greater marks. */
function changedFacts(known: Known, { ends, marks, messages }: Ready): ChangedFact[] {
  const changed = new Map<string, ChangedFact>();
  const parents = new Map<string, string | null>();
  // The end of a turn that is sent again may be passed already, so include the known parents.
  for (const { key, parent } of [...known.messages.values(), ...messages]) parents.set(key, parent);
  const handed: readonly (readonly [StoredFact['kind'], readonly (EndsRecord | Mark)[]])[] = [
    ['ends', ends],
    ['mark', marks],
  ];
  for (const [kind, records] of handed)
    for (const record of records) {
      const name = nameOfFact(kind, record);
      const { before = factIn(known.facts.get(name)), after = before } = changed.get(name) ?? {};
      const next =
        kind === 'ends'
          ? joinedEnds(after as EndsRecord | undefined, record as EndsRecord, parents)
          : after && compareMarks(after as Mark, record as Mark) >= 0
            ? after
            : record;
      if (next !== after) changed.set(name, { kind, before, after: next });
    }
  return [...changed.values()];
}

function joinedEnds(known: EndsRecord | undefined, record: EndsRecord, parents: Parents): EndsRecord {
  const next = withoutPassed(known ? unitedEnds(known, record) : record, parents);
  return known && isSameEnds({ ...known, seq: next.seq } as EndsRecord, next) ? known : next;
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
    const records = [...facts.values()].filter((fact) => fact.kind === 'ends' && fact.id === id);
    const known = new Set(records.flatMap((fact) => (factIn(fact) as EndsRecord | undefined)?.keys ?? []));
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
  await forgetDrafts(rows, chatId, changes);
  const seqs: number[] = [];
  for (const { before } of changes) if (before && hasWords(shownVersion(before))) seqs.push(before.seq);
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
  if (!changes.some(({ before }) => before)) return;
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

/** The row of an end or a mark. */
export function factOf(
  chatId: string,
  kind: StoredFact['kind'],
  { seq: _seq, ...record }: EndsRecord | Mark,
  seq: number,
): StoredFact {
  return { chatId, kind, id: record.id, chat: record.chat, seq, text: summed(JSON.stringify(record)) };
}

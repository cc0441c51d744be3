import type { UIMessage } from 'ai';
import { ContextError, reasonOf } from '../../errors.ts';
import type { MessageRecord, Version } from '../../graph/graph.ts';
import * as door from '../door.ts';
import type { Body, ChatRecords, ChatRow, CommitOptions, Draft, DraftOptions, StoreDelta } from '../store.ts';
import type { Access } from './access.ts';
import { commit as commitRecords, nameOfVersion, type Ready, type ReadyBody } from './commit.ts';
import { LAST_DRAFT, writeDraft } from './drafts.ts';
import { PACK, type Table, TABLES } from './layout.ts';
import { findLiving, isDraftOf, loadPacks, putFile, readMeta } from './records.ts';
import { recordsAfter, wordsOf } from './shown.ts';
import { shownRow } from './totals.ts';

// The calls of a store that each chat needs: see `ContextStore`. Each checks what it is handed, does what takes time (files get
// names, bodies become JSON), and then opens one transaction; after it is complete, everybody hears.

export async function load(access: Access, chatId: string, since?: number): Promise<ChatRecords> {
  door.expectTexts({ chatId });
  door.expect('number?', 'change number', since);
  if (since === undefined) access.grow(chatId);
  return access.read(LOADED, chatId, (rows, reading) => recordsAfter(rows, reading, chatId, since));
}

export async function bodies(
  access: Access,
  chatId: string,
  keys: readonly string[],
  records: readonly MessageRecord[] = [],
): Promise<ReadonlyMap<string, Body>> {
  door.expectTexts({ chatId });
  door.expect('text[]', 'keys', keys);
  const asked = new Set(keys);
  const found = await access.read(READ, chatId, (rows, reading) =>
    wordsOf(rows, reading, chatId, asked, records),
  );
  const isShown = asked.size <= FEW;
  const bodies = new Map<string, Body>();
  for (const key of asked) if (found.has(key)) bodies.set(key, found.get(key) as Body);
  const messages = await access.attach([...bodies.values()].map(({ message }) => message));
  for (const [i, [key, body]] of [...bodies].entries()) {
    const message = messages[i] as UIMessage;
    const name = isShown && !body.isDraft ? nameOfVersion(`${chatId} ${key}`, body) : undefined;
    bodies.set(key, { ...body, message: name === undefined ? message : same(access, name, message) });
  }
  return bodies;
}

/** The message under a name, the one that was handed out before if somebody has it. */
function same({ shown }: Access, name: string, message: UIMessage): UIMessage {
  const known = shown.get(name)?.deref();
  // What stands for a lost file is no message to be remembered: the file may come back.
  if (known || message.parts.some((part) => 'gone' in part)) return known ?? message;
  shown.set(name, new WeakRef(message));
  if (shown.size % FEW === 0) for (const [key, one] of shown) if (!one.deref()) shown.delete(key);
  return message;
}

/** So many messages are the same object when they are read again: more are read to be sent, not to be shown. */
const FEW = 512;

export async function commit(
  access: Access,
  chatId: string,
  delta: StoreDelta,
  options: CommitOptions,
): Promise<ChatRecords> {
  door.expectTexts({ chatId });
  const place = door.checkCommit(options);
  const ready = await readyOf(access, chatId, door.checkDelta(delta, place.userId));
  if (ready.messages.length >= 2 * PACK) await loadPacks();
  const { records, isChanged } = await access.write(
    COMMITTED,
    chatId,
    (rows, reading) => commitRecords(rows, reading, ready, place),
    (done) => (done.isChanged ? { kind: 'change', seq: done.records.seq } : undefined),
  );
  if (isChanged) access.grow(chatId);
  return records;
}

/** A delta as it is written: bodies apart, with names in place of their files. */
async function readyOf(access: Access, chatId: string, { messages, ...rest }: StoreDelta): Promise<Ready> {
  const bodies = new Map<string, ReadyBody>();
  const files: Ready['files'] = new Map();
  const bare: MessageRecord[] = [];
  for (const record of messages) {
    const versions: Version[] = [];
    for (const { body, ...version } of record.versions) {
      versions.push(version);
      if (!body) continue;
      const message = await access.detach(body, files);
      const { key } = record;
      bodies.set(nameOfVersion(key, version), { key, version, json: JSON.stringify(message) });
    }
    bare.push({ ...record, versions });
  }
  return { chatId, messages: bare, ...rest, bodies, files };
}

export async function saveDraft(
  access: Access,
  chatId: string,
  draft: Draft,
  options?: DraftOptions,
): Promise<void> {
  door.expectTexts({ chatId });
  const { isLeaving = false, isDurable = false } = door.readOptions(options, DRAFTING);
  const copy = door.checkDraft(draft);
  const { key } = copy;
  if (isLeaving && access.db.putNow('drafts', JSON.stringify(copy), [chatId, key, LAST_DRAFT])) return;
  const files: Ready['files'] = new Map();
  const message = await access.detach(copy.message, files);
  const seq = await access.write(
    DRAFTED,
    chatId,
    async (rows, reading) => {
      const [chat, meta] = await Promise.all([reading, readMeta(rows)]);
      const found = await findLiving(rows, chat, [key], () => copy.seq);
      if (!chat.totals || !isDraftOf(copy, found.get(key))) return undefined;
      for (const [hash, bytes] of files) await putFile(rows, hash, bytes);
      await writeDraft(rows, chatId, { ...copy, message });
      return meta.seq;
    },
    (done) => (done === undefined ? undefined : { kind: 'draft', key, seq: done }),
    !isDurable,
  );
  if (seq !== undefined || !isDurable) return;
  const words = `Message "${reasonOf(key)}" of chat "${reasonOf(chatId)}" has another version by now, or is gone.`;
  throw new ContextError('message-not-found', words, { details: { chatId, key } });
}

export async function getChat(access: Access, chatId: string): Promise<ChatRow | undefined> {
  door.expectTexts({ chatId });
  return access.read(['chats'], chatId, async (_rows, chat) => shownRow(await chat));
}

// ------------------------------------------------------------------ beside chats

export async function get(access: Access, key: string): Promise<unknown> {
  door.expectTexts({ key });
  return access.db.read(['values'], (rows) => rows.get('values', key));
}

export async function set(access: Access, key: string, value: unknown): Promise<void> {
  door.expectTexts({ key });
  const copy = door.cloneValue(key, value);
  await access.db.write(['values'], async (rows) => rows.put('values', copy, key));
}

async function deleteValue(access: Access, key: string): Promise<void> {
  door.expectTexts({ key });
  await access.db.write(['values'], async (rows) => rows.delete('values', key));
}
export { deleteValue as delete };

export async function hold(access: Access, chatId: string, key: string): Promise<() => void> {
  door.expectTexts({ chatId, key });
  return access.db.hold(chatId, key);
}

export async function held(access: Access, chatId: string): Promise<ReadonlySet<string>> {
  door.expectTexts({ chatId });
  return access.db.held(chatId);
}

const LOADED: readonly Table[] = ['meta', 'chats', 'nodes', 'topologies', 'facts', 'drafts', 'local'];
const READ: readonly Table[] = ['chats', 'nodes', 'bodies', 'topologies', 'packs', 'drafts'];
const DRAFTED: readonly Table[] = ['meta', 'chats', 'nodes', 'topologies', 'drafts', 'blobs', 'uses'];
const COMMITTED: readonly Table[] = TABLES.filter((table) => table !== 'values');

/** The options of a draft. */
const DRAFTING: door.Fields = { isLeaving: 'truth?', isDurable: 'truth?' };

import type { UIMessage } from 'ai';
import { hasWords, type Mark, type MessageRecord, shownVersion, previewOf } from '../../graph/graph.ts';
import { kindOf } from '../../graph/marks.ts';
import type { Damage } from '../store.ts';
import { putMessage, textOfBody } from './commit.ts';
import {
  after,
  type Key,
  type Rows,
  type StoredBody,
  type StoredChat,
  type StoredFact,
  type StoredMessage,
  type Table,
  bodyIn,
  keyIn,
  messageIn,
  only,
  readText,
  within,
} from './layout.ts';
import { readTopology, type StoredPack, type StoredTopology, summedLines } from './pack.ts';
import { blobsIn, factIn, readMeta, totalsOf } from './records.ts';

/**
 * Examining a chat record by record, and repairing what can be repaired.
 *
 * Reads skip damaged records; this names them. A damaged message record is rebuilt from its body, which has key, content and
 * role: its parent is the message before it, and later messages still refer to its key. Lost bodies are named; a page that still
 * has them writes them again. The engine gives messages that no end reaches a branch.
 *
 * Loaded when someone verifies or repairs a chat. Reads the whole chat, in one transaction.
 */
export async function examineChat(
  rows: Rows,
  chat: StoredChat,
  { repair, now }: { readonly repair: boolean; readonly now: number },
): Promise<Damage[]> {
  const found = await lookAt(rows, chat);
  const rebuilt = rebuild(chat, found);
  const all = [...found.damages, ...(await missingFiles(rows, found))];
  const damages = [...new Map(all.map((one) => [`${one.kind} ${one.id}`, one])).values()];
  if (repair && damages.length > 0) await write(rows, chat, found, rebuilt, now);
  return damages;
}

interface Found {
  /** By key, each at its greatest number. */
  readonly messages: Map<string, StoredMessage>;
  /** The numbers of all records of messages, old ones included. */
  readonly places: ReadonlySet<number>;
  /** By number; `isSound` if the body's checksum is right. */
  readonly words: ReadonlyMap<number, { readonly body: StoredBody; readonly isSound: boolean }>;
  readonly marks: readonly Mark[];
  readonly damages: Damage[];
  /** Damaged records that the repair deletes: what could be read of them is written anew. */
  readonly bad: [table: Table, key: Key][];
}

async function lookAt(rows: Rows, { id: chatId, from }: StoredChat): Promise<Found> {
  const living = after(chatId, from);
  const [nodes, topologies, bodies, packs, facts] = await Promise.all([
    rows.entries<string>('nodes', living),
    rows.entries<StoredTopology>('topologies', living),
    rows.entries<string>('bodies', living),
    rows.entries<StoredPack>('packs', living),
    rows.entries<StoredFact>('facts', within(chatId)),
  ]);
  const damages: Damage[] = [];
  const bad: Found['bad'] = [];
  const note = (table: Table, key: Key, damage: Damage): void => {
    damages.push(damage);
    bad.push([table, key]);
  };
  const words = new Map<number, { body: StoredBody; isSound: boolean }>();
  const hear = (text: string | undefined): boolean => {
    const body = bodyIn(text);
    if (body) words.set(body.seq, { body, isSound: readText(text) !== undefined });
    return body !== undefined;
  };
  for (const [key, text] of bodies) if (!hear(text)) bad.push(['bodies', key]);
  for (const [, pack] of packs) for (const line of summedLines(pack)) if (line) hear(line);

  const messages = new Map<string, StoredMessage>();
  const places = new Set<number>();
  const add = (message: StoredMessage): void => {
    places.add(message.seq);
    if ((messages.get(message.key)?.seq ?? -1) < message.seq) messages.set(message.key, message);
  };
  for (const [key, record] of topologies) {
    const packed = readTopology(chatId, record);
    for (const message of packed ?? []) add(message);
    const id = `${(key as [string, number])[1]}`;
    const reason =
      'The record of up to 64 packed messages is damaged: a repair rebuilds them from their words.';
    if (!packed) note('topologies', key, { kind: 'message', id, reason, isMended: true });
  }
  for (const [key, text] of nodes) {
    const seq = (key as [string, number])[1];
    const message = messageIn(text);
    if (message?.seq === seq) {
      add(message);
      continue;
    }
    const isMended = words.has(seq);
    const id = words.get(seq)?.body.key ?? keyIn(text) ?? `${seq}`;
    const reason = `The record of a message is damaged${isMended ? ': a repair rebuilds it from its words' : ', and its words are gone'}.`;
    note('nodes', key, { kind: 'message', id, reason, isMended });
  }
  const marks: Mark[] = [];
  for (const [key, fact] of facts) {
    const [, kind, id] = key as [string, StoredFact['kind'], string];
    if (fact && fact.seq <= from) continue;
    const record = factIn(fact)?.record;
    if (!record) {
      const reason =
        kind === 'ends'
          ? 'The end of a branch is lost: a repair gives its messages another branch.'
          : 'A mark is lost.';
      note('facts', key, { kind, id, reason, isMended: kind === 'ends' });
    } else if (kind === 'mark') marks.push(record as Mark);
  }
  return { messages, places, words, marks, damages, bad };
}

/** Rebuilds the messages of which only bodies are left, and returns them; notes lost and changed bodies, and a lost chat row. */
function rebuild(chat: StoredChat, { messages, places, words, damages }: Found): StoredMessage[] {
  const rebuilt: StoredMessage[] = [];
  const known = new Map([...messages.values()].map((record) => [record.seq, record]));
  let last: StoredMessage | undefined;
  for (const seq of [...new Set([...known.keys(), ...words.keys()])].toSorted((a, b) => a - b)) {
    const [record, said] = [known.get(seq), words.get(seq)];
    if (record) {
      last = record;
      const isOwn = said?.body.key === record.key;
      const reason = isOwn
        ? 'The words of a message have changed on the disk.'
        : 'The words of a message are lost.';
      if (hasWords(shownVersion(record)) && !(isOwn && said.isSound))
        damages.push({ kind: 'body', id: record.key, reason, isMended: false });
    } else if (said && !places.has(seq) && !messages.has(said.body.key)) {
      last = rebuiltFrom(chat, said.body, last);
      messages.set(last.key, last);
      rebuilt.push(last);
      const reason = 'Only the words of a message are left: a repair puts it behind the message before it.';
      damages.push({ kind: 'message', id: last.key, reason, isMended: true });
    }
  }
  const reason = 'The row of the chat is lost: a repair rebuilds it from its records.';
  if (!chat.totals && messages.size > 0) damages.push({ kind: 'chat', id: chat.id, reason, isMended: true });
  return rebuilt;
}

/** A message of which only the body is left. */
function rebuiltFrom(chat: StoredChat, body: StoredBody, parent: MessageRecord | undefined): StoredMessage {
  const { key, rev, by, sum, seq } = body;
  const message = body.message as UIMessage;
  const at = (parent?.at ?? 0) + 1;
  const version = { rev, by, status: 'complete', sum, parts: message.parts.length } as const;
  return {
    key,
    id: message.id,
    parent: parent?.key ?? null,
    role: message.role,
    at,
    createdAt: parent?.createdAt ?? at,
    chat: parent?.chat ?? chat.keys[0] ?? key,
    seq,
    versions: [{ ...version, preview: previewOf(message) }],
  };
}

async function missingFiles(rows: Rows, { words }: Found): Promise<Damage[]> {
  const owners = new Map<string, string>();
  for (const { body } of words.values())
    for (const hash of blobsIn(JSON.stringify(body.message))) owners.set(hash, body.key);
  const found = await Promise.all([...owners.keys()].map((hash) => rows.keys('blobs', only(hash))));
  const reason = 'A file of a message is lost.';
  const lost = [...owners].filter((_, i) => found[i]?.length === 0);
  return lost.map(([hash, key]): Damage => ({ kind: 'file', id: hash, key, reason, isMended: false }));
}

/** Writes the rebuilt messages at new numbers, and the row of the chat. */
async function write(
  rows: Rows,
  chat: StoredChat,
  { messages, places, words, marks, bad }: Found,
  rebuilt: readonly StoredMessage[],
  now: number,
): Promise<void> {
  const { id: chatId } = chat;
  const meta = await readMeta(rows);
  let seq = [...places, ...words.keys()].reduce((last, place) => Math.max(last, place), meta.seq);
  for (const [table, key] of bad) rows.delete(table, key);
  for (const record of rebuilt) {
    rows.delete('bodies', [chatId, record.seq]);
    const message = words.get(record.seq)?.body.message;
    const stored: StoredMessage = { ...record, seq: (seq += 1) };
    putMessage(rows, chatId, stored, textOfBody(stored, JSON.stringify(message)));
  }
  const all = [...messages.values()];
  const beginning = marks.find((mark) => kindOf(mark) === 'beginning')?.value;
  const { userId } = Object(beginning) as { readonly userId?: string };
  const totals = totalsOf(all, marks, {
    userId: chat.totals?.userId ?? userId ?? '',
    now: chat.totals?.updatedAt ?? now,
    branchCount: chat.totals?.branches,
  });
  const keys = [...new Set([...chat.keys, ...all.map((record) => record.chat)])];
  rows.put('chats', { ...chat, ...meta, seq: (seq += 1), keys, totals });
}

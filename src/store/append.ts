import type { UIMessage } from 'ai';
import type { Branch, Chat, Checkpoint, MessageNode, NodeInfo } from '../graph/graph.ts';
import { byAge, infoOf } from '../graph/graph.ts';
import { bytesOf, type Files } from './attachments.ts';
import { blobsOf, releaseBlobs, referToBlob } from './blobs.ts';
import { draftOf, readDraft } from './drafts.ts';
import { createDeviceId } from './device.ts';
import { fragmentsKey } from './fragmentsKey.ts';
import { between, CONTENT, type Meta, ofChat, only } from './layout.ts';
import { readChat } from './rebuild.ts';
import type { Rows } from './rows.ts';
import type { Change, StoreTransaction } from './store.ts';

/** A transaction of one chat over the rows of its tables. */
export class RecordTransaction implements StoreTransaction {
  readonly chatId: string;
  readonly deviceId: string;
  readonly #rows: Rows;
  #meta: Meta;
  /** Messages that are known not to be there. */
  #absent: Set<string> = new Set();

  /** Bytes that the messages refer to which were put. */
  readonly #used: Set<string> = new Set();
  readonly #files: Files;
  #isPurged = false;
  #isSure = false;
  #hasChanged = false;

  /** `files` are those that the messages come with. */
  constructor(chatId: string, rows: Rows, meta: Meta, files: Files) {
    this.chatId = chatId;
    this.deviceId = meta.deviceId;
    this.#rows = rows;
    this.#meta = meta;
    this.#files = files;
  }

  chat(): Promise<Chat | undefined> {
    return readChat(this.#rows, this.chatId);
  }

  /** A counter that was set back must not give out numbers twice, so it is compared with what is there, once. */
  async seq(): Promise<number> {
    if (this.#isSure) return this.#meta.seq;
    this.#isSure = true;
    this.#meta = { ...this.#meta, seq: await lastChange(this.#rows, this.#meta.seq) };
    return this.#meta.seq;
  }

  /** Whether anything was changed. */
  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** Many are compared with the whole chat, unless that is much longer. */
  async expect(ids: readonly string[], nextSeq: number): Promise<number> {
    const isShort = nextSeq < ids.length * 8 && ids.length >= FEW;
    const [beyond, there] = await Promise.all([
      this.#rows.list('nodes', between(this.chatId, nextSeq, Infinity)),
      isShort ? this.#rows.list('nodes', ofChat(this.chatId)) : Promise.all(ids.map((id) => this.info(id))),
    ]);
    this.#absent = new Set(ids);
    for (const info of there) if (info) this.#absent.delete(info.id);
    return Math.max(nextSeq, (beyond.at(-1)?.seq ?? -1) + 1);
  }

  async info(id: string): Promise<NodeInfo | undefined> {
    return this.#absent.has(id) ? undefined : this.#rows.get('nodes', [this.chatId, id], 'id');
  }

  async node(id: string, lost?: NodeInfo): Promise<MessageNode | undefined> {
    const info = (await this.info(id)) ?? lost;
    return info && withBody(info, await this.#rows.get('bodies', [this.chatId, info.seq]));
  }

  draft(id: string): Promise<UIMessage | undefined> {
    return readDraft(this.#rows, this.chatId, id);
  }

  /** Whoever follows a message was written after it; nobody knows without looking, but few come after a new one. */
  async hasChildren({ id, seq }: NodeInfo): Promise<boolean> {
    const later = await this.#rows.list('nodes', between(this.chatId, seq + 1, Infinity));
    return later.some((info) => info.parentId === id);
  }

  branch(id: string): Promise<Branch | undefined> {
    return this.#rows.get('branches', [this.chatId, id]);
  }

  async branches(): Promise<Branch[]> {
    return byAge(await this.#rows.list('branches', ofChat(this.chatId)));
  }

  async checkpoints(): Promise<Checkpoint[]> {
    return byAge(await this.#rows.list('checkpoints', ofChat(this.chatId)));
  }

  purge(): void {
    this.#isPurged = true;
    for (const table of CONTENT) this.#rows.delete(table, ofChat(this.chatId));
    this.#rows.delete('values', only(fragmentsKey(this.chatId)));
  }

  putChat(chat: Chat): void {
    this.#rows.put('chats', chat);
  }

  putNode(node: MessageNode, replaced?: MessageNode): void {
    this.#rows.put('nodes', infoOf(node));
    this.#rows.put('bodies', node.data, [this.chatId, node.seq]);
    for (const hash of blobsOf(node.data)) this.#used.add(hash);
    if (!replaced) return;
    this.#rows.put('revisions', replaced, [this.chatId, node.id, replaced.rev]);
    this.#rows.delete('drafts', draftOf(this.chatId, node.id));
  }

  dropNode({ id, seq }: NodeInfo): void {
    this.#rows.delete('nodes', only([this.chatId, seq]));
    this.#rows.delete('bodies', only([this.chatId, seq]));
    this.#rows.delete('drafts', draftOf(this.chatId, id));
  }

  /** Comes last: keeps the bytes that the chat refers to now, and lets go of those that went with what it was. */
  async settleBlobs(): Promise<void> {
    for (const hash of this.#used) await keepFile(this.#rows, this.chatId, hash, this.#files);
    if (this.#isPurged) await releaseBlobs(this.#rows, this.chatId, this.#used);
  }

  putBranch(branch: Branch): void {
    this.#rows.put('branches', branch);
  }

  putCheckpoint(checkpoint: Checkpoint): void {
    this.#rows.put('checkpoints', checkpoint);
  }

  putChanges(changes: readonly Change[]): void {
    this.#hasChanged ||= changes.length > 0;
    for (const change of changes) this.#rows.put('changes', change);
    this.#meta = { ...this.#meta, seq: changes.at(-1)?.seq ?? this.#meta.seq };
    this.#rows.put('meta', this.#meta, SELF);
  }

  putValue(key: string, value: unknown): void {
    this.#rows.put('values', value, key);
  }
}

/** Notes that a chat refers to a file, and keeps the bytes that come with it, unless they are there. */
export async function keepFile(rows: Rows, chatId: string, hash: string, files: Files): Promise<void> {
  const file = files.get(hash);
  const isThere = file === undefined || (await rows.get('blobs', hash)) !== undefined;
  if (!isThere) rows.put('blobs', { hash, bytes: bytesOf(file) });
  referToBlob(rows, chatId, hash);
}

/** So few messages are looked up one by one. */
const FEW = 16;

/** The key of the row about the database. */
export const SELF = 'self';

/** What a database knows about itself; a new one learns its names here, and keeps them with its first write. */
export async function readMeta(rows: Rows): Promise<Meta> {
  const meta = await rows.get('meta', SELF);
  return meta ?? { seq: await lastChange(rows, 0), deviceId: createDeviceId(), databaseId: createDeviceId() };
}

/** Where a write goes on in the change sequence. A counter that was set back must not give out numbers twice. */
export async function nextMeta(rows: Rows): Promise<Meta> {
  const meta = await readMeta(rows);
  return { ...meta, seq: await lastChange(rows, meta.seq) };
}

/** The last number of the change sequence, known to be `seq` at least. Costs those that come after. */
async function lastChange(rows: Rows, seq: number): Promise<number> {
  const later = await rows.list('changes', { from: seq + 1, to: Infinity }, 'seq');
  return later.at(-1)?.seq ?? seq;
}

/** A message from its two halves. One whose body is lost, or another's, reads as a message without parts. */
export function withBody(info: NodeInfo, body: UIMessage | undefined): MessageNode {
  const { preview: _preview, parts: _parts, ...node } = info;
  const isOwn = body?.id === info.id;
  return { ...node, data: isOwn ? body : { id: info.id, role: info.name as UIMessage['role'], parts: [] } };
}

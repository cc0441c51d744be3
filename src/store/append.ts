import type { UIMessage } from 'ai';
import { ContextError } from '../errors.ts';
import type { Branch, Chat, Checkpoint, MessageNode, NodeInfo } from '../graph/graph.ts';
import { byAge } from '../graph/graph.ts';
import { bytesOf, type Files } from './attachments.ts';
import { blobsOf, releaseBlobs, referToBlob } from './blobs.ts';
import { draftOf, readDraft } from './drafts.ts';
import { keysOf } from './keys.ts';
import { type ChatReads, Ids, type Known } from './chatReads.ts';
import { between, BLOCK, CONTENT, type Meta, ofChat, only } from './layout.ts';
import { lastChange, SELF } from './meta.ts';
import type { Rows } from './rows.ts';
import type { Change, StoreTransaction } from './store.ts';
import { bodySum } from './sum.ts';
import { rememberText } from './texts.ts';

/** A transaction of one chat over the rows of its tables. */
export class RecordTransaction implements StoreTransaction {
  readonly chatId: string;
  readonly deviceId: string;
  readonly #reads: ChatReads;
  readonly #rows: Rows;
  #meta: Meta;
  /** Where nothing lies, at this place and beyond; undefined where that was not looked at. */
  #free: number | undefined;
  /** What is written. */
  #chat: Chat | undefined;
  /** From the newest to the oldest. */
  readonly #nodes: MessageNode[] = [];
  readonly #dropped = new Set<string>();
  readonly #branches = new Map<string, Branch>();
  #hasNew = false;
  /** Which messages those from a place on follow. */
  readonly #followed = { from: Infinity, parents: new Set<string | null>() };

  /** Bytes that the messages refer to which were put. */
  readonly #used: Set<string> = new Set();
  readonly #files: Files;
  #isPurged = false;
  #isSure = false;
  #hasChanged = false;

  /** `files` are those that the messages come with. */
  constructor(reads: ChatReads, meta: Meta, files: Files) {
    this.chatId = reads.chatId;
    this.deviceId = meta.deviceId;
    this.#reads = reads;
    this.#rows = reads.rows;
    this.#meta = meta;
    this.#files = files;
  }

  /** Refuses a write to a chat that was known as of this change number, where everything was cleared since. */
  expectSince(asOf: number = Infinity): void {
    const { clearedSeq = 0, seq } = this.#meta;
    // A number that is yet to come was made by a disk.
    if (clearedSeq <= asOf || clearedSeq > seq) return;
    const message = 'This chat was deleted with all others. Open it anew to begin another one with its id.';
    throw new ContextError('chat-deleted', message, { details: { chatId: this.chatId, asOf, clearedSeq } });
  }

  chat(): Promise<Chat | undefined> {
    return this.#reads.chat();
  }

  /**
   * People set clocks right, and chats would sink in the list with each turn, below those that were written while it was
   * fast. One that was wrong by more than a day is not followed: every chat would tell a time that never was.
   */
  moment(now: number): number {
    const { at = now } = this.#meta;
    const moment = now < at && at - now < DAY ? at + 1 : now;
    this.#meta = { ...this.#meta, at: moment };
    return moment;
  }

  /** A counter that was set back must not give out numbers twice, so it is compared with what is there, once. */
  async seq(): Promise<number> {
    if (this.#isSure) return this.#meta.seq;
    this.#isSure = true;
    if (this.#reads.isAlone) return this.#meta.seq;
    this.#meta = { ...this.#meta, seq: await lastChange(this.#rows, this.#meta.seq) };
    return this.#meta.seq;
  }

  /** Whether anything was changed. */
  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** Many are compared with the whole chat, unless that is much longer. */
  async expect(
    ids: readonly string[],
    nextSeq: number,
  ): Promise<{ nextSeq: number; there: ReadonlySet<string> }> {
    const isShort = nextSeq < ids.length * 8 && ids.length >= FEW;
    const [free, there] = await Promise.all([
      this.#reads.known?.free === nextSeq ? nextSeq : this.#freeFrom(nextSeq),
      this.#reads.find(ids, isShort),
    ]);
    this.#free = free;
    return { nextSeq: free, there };
  }

  async #freeFrom(nextSeq: number): Promise<number> {
    const beyond = await this.#rows.list('nodes', between(this.chatId, nextSeq, Infinity));
    return Math.max(nextSeq, (beyond.at(-1)?.seq ?? -1) + 1);
  }

  /** Bodies do not tell where they lie. So whole blocks are passed over, which leaves those alone when others are sealed. */
  async wordsEnd(): Promise<number> {
    let end = 0;
    while (await this.#hasWordsFrom(end)) end = Math.max(end * 2, BLOCK);
    return end;
  }

  /** Whether any lie there: those that can't be read do. */
  async #hasWordsFrom(seq: number): Promise<boolean> {
    const met = this.#rows.damage?.length;
    const words = await this.#rows.list('bodies', between(this.chatId, seq, Infinity));
    return words.length > 0 || this.#rows.damage?.length !== met;
  }

  info(id: string): Promise<NodeInfo | undefined> {
    return this.#reads.info(id);
  }

  async node(id: string, known?: NodeInfo): Promise<MessageNode | undefined> {
    // Looked up in any case: rows that are packed find out on the way where to write.
    const there = await this.info(id);
    const info = known ?? there;
    return info && withBody(info, await this.#reads.body(info));
  }

  draft(id: string): Promise<UIMessage | undefined> {
    return readDraft(this.#rows, this.chatId, id);
  }

  /**
   * Whoever follows a message was written after it; nobody knows without looking, but few come after a new one. What was
   * looked at for one message is remembered for the next: thousands may be taken back at once.
   */
  async hasChildren({ id, seq }: NodeInfo): Promise<boolean> {
    const { from, parents } = this.#followed;
    if (seq + 1 < from) {
      const later = await this.#rows.list('nodes', between(this.chatId, seq + 1, from - 1));
      // A place that nothing lies behind may be a damaged one, and out of this world: no look goes as far as there.
      if (later.length > 0) this.#followed.from = seq + 1;
      for (const { parentId } of later) parents.add(parentId);
    }
    return parents.has(id);
  }

  branch(id: string): Promise<Branch | undefined> {
    return this.#reads.branch(id);
  }

  async branches(): Promise<Branch[]> {
    return byAge(await this.#rows.list('branches', ofChat(this.chatId)));
  }

  async checkpoints(): Promise<Checkpoint[]> {
    return byAge(await this.#rows.list('checkpoints', ofChat(this.chatId)));
  }

  purge(isBegun?: boolean): void {
    this.#isPurged = true;
    for (const table of CONTENT)
      if (!isBegun || table !== 'leases') this.#rows.delete(table, ofChat(this.chatId));
    for (const key of keysOf(this.chatId)) this.#rows.delete('values', only(key));
  }

  putChat(chat: Chat): void {
    this.#chat = chat;
    this.#rows.put('chats', chat);
  }

  /** Nothing is left of the chat's row. */
  dropChat(): void {
    this.#rows.delete('chats', only(this.chatId));
  }

  bodyHash(body: UIMessage): string {
    return bodySum(rememberText(body));
  }

  putNode(node: MessageNode, info: NodeInfo, replaced?: MessageNode): void {
    this.#rows.put('nodes', info);
    this.#rows.put('bodies', node.data, [this.chatId, node.seq]);
    for (const hash of blobsOf(node.data)) this.#used.add(hash);
    this.#nodes.push(node);
    this.#hasNew ||= !replaced;
    if (!replaced) return;
    this.#rows.put('revisions', replaced, [this.chatId, node.id, replaced.rev]);
    this.#rows.delete('drafts', draftOf(this.chatId, node.id));
  }

  dropNode({ id, seq }: NodeInfo): void {
    this.#dropped.add(id);
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
    this.#branches.set(branch.id, branch);
    this.#rows.put('branches', branch);
  }

  putCheckpoint(checkpoint: Checkpoint): void {
    this.#rows.put('checkpoints', checkpoint);
  }

  value(key: string): Promise<unknown> {
    return this.#rows.get('values', key);
  }

  putFile(hash: string, bytes: Uint8Array): void {
    this.#rows.put('blobs', { hash, bytes });
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

  /** What is known of the chat once this has lasted, by whoever knew this before. */
  get known(): Known {
    const before = this.#isPurged ? undefined : this.#reads.known;
    const nodes = [...(before?.nodes.values() ?? []), ...this.#nodes.slice(0, REMEMBERED).toReversed()]
      .filter(({ id }) => !this.#dropped.has(id))
      .slice(-REMEMBERED);
    const free = this.#free === undefined ? before?.free : this.#chat?.nextSeq;
    // Sets and maps grow: who still has the state before this knows by its counter that it is over.
    const branches = before?.branches ?? new Map<string, Branch>();
    for (const [id, branch] of this.#branches) branches.set(id, branch);
    const ids = this.#isPurged ? new Ids([]) : before?.ids;
    ids?.add(this.#nodes.map(({ id }) => id));
    return {
      meta: this.#meta,
      chatId: this.chatId,
      chat: this.#chat ?? before?.chat,
      free: this.#free === undefined && this.#hasNew ? undefined : free,
      nodes: new Map(nodes.map((node) => [node.id, node])),
      branches,
      ids,
    };
  }
}

/** Notes that a chat refers to a file, and keeps the bytes that come with it, unless they are there. */
export async function keepFile(rows: Rows, chatId: string, hash: string, files: Files): Promise<void> {
  const file = files.get(hash);
  const isThere = file === undefined || (await rows.get('blobs', hash)) !== undefined;
  if (!isThere) rows.put('blobs', { hash, bytes: bytesOf(file) });
  referToBlob(rows, chatId, hash);
}

/** In ms. */
const DAY = 86_400_000;

/** So many messages of the last writes are remembered. */
const REMEMBERED = 8;

/** So few messages are looked up one by one. */
const FEW = 16;

/** A message from its two halves. One whose body is lost, or another's, reads as a message without parts. */
export function withBody(info: NodeInfo, body: UIMessage | undefined): MessageNode {
  const { preview: _preview, parts: _parts, ...node } = info;
  const isOwn = body?.id === info.id;
  return { ...node, data: isOwn ? body : { id: info.id, role: info.name as UIMessage['role'], parts: [] } };
}

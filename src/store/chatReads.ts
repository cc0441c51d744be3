import type { UIMessage } from 'ai';
import type { Branch, Chat, MessageNode, NodeInfo } from '../graph/graph.ts';
import { infoOf } from '../graph/graph.ts';
import { type Meta, ofChat } from './layout.ts';
import { readMeta, SELF } from './meta.ts';
import { readChat } from './rebuild.ts';
import type { Rows } from './rows.ts';
import type { ChatRecords, StoreOp } from './store.ts';

/**
 * What a write reads of its chat, in one go, and what it need not read.
 *
 * To ask one thing after the other costs a way to the database and back each time, and an append asks for half a dozen:
 * the chat, whether its message is there, what it follows, which head is to move. All that is named in its operations.
 * So it is asked before the first of them is looked at, and each answer is there when its turn comes. All reads of a
 * transaction come before all writes, so what was read once need not be read again.
 *
 * And mostly it is known. Whoever writes a turn wrote the one before, or has read the chat, and every write moves the
 * counter of the database. So if the counter stands where this store left it, nobody has written since, and what this
 * store wrote or read then is what is there. Only the counter is read, and where that is all, nothing waits for it: the
 * database hears of the writes together with the question, and they are undone if somebody else did write (`assume` of
 * the rows). Then, and where something set the counter back, all is read as if nothing was known.
 */
export class ChatReads {
  readonly chatId: string;
  readonly rows: Rows;
  /** Whether nobody has written since what this store remembers. */
  isAlone = false;
  #known: Known | undefined;
  #chat: Promise<Chat | undefined> | undefined;
  readonly #infos = new Map<string, Promise<NodeInfo | undefined>>();
  readonly #branches = new Map<string, Promise<Branch | undefined>>();

  constructor(rows: Rows, chatId: string) {
    this.rows = rows;
    this.chatId = chatId;
  }

  /** What is known of the chat and true. */
  get known(): Known | undefined {
    return this.isAlone ? this.#known : undefined;
  }

  /** Reads what these operations will ask for, but what is known, and what the database says of itself. */
  async begin(ops: readonly StoreOp[], last: Known | undefined): Promise<Meta> {
    const known = last?.chatId === this.chatId ? last : undefined;
    this.#known = known;
    const unknown = this.#unknown(ops, known);
    if (known && unknown.length === 0 && this.rows.assume) {
      this.isAlone = true;
      this.rows.assume(this.#isWhere(known));
      return known.meta;
    }
    const [meta] = await Promise.all([readMeta(this.rows), ...unknown.map((read) => read())]);
    this.isAlone = last !== undefined && isWhere(last, meta);
    if (known && !this.isAlone) await Promise.all(this.#unknown(ops, undefined).map((read) => read()));
    return meta;
  }

  async #isWhere(known: Known): Promise<boolean> {
    const meta = await this.rows.get('meta', SELF);
    return meta !== undefined && isWhere(known, meta);
  }

  /** What is to be read for these operations. Of many messages only the first, because many are found in ranges. */
  #unknown(ops: readonly StoreOp[], known: Known | undefined): (() => Promise<unknown>)[] {
    const ids = new Set(ops.slice(0, FORESEEN).flatMap(messagesOf));
    const branches = new Set(ops.flatMap((op) => (op.op === 'head' || op.op === 'use' ? [op.branchId] : [])));
    return [
      ...(known?.chat ? [] : [() => this.chat()]),
      ...[...ids].filter((id) => !knows(known, id)).map((id) => () => this.info(id)),
      ...[...branches].filter((id) => !known?.branches.has(id)).map((id) => () => this.branch(id)),
    ];
  }

  chat(): Promise<Chat | undefined> {
    return (this.#chat ??= this.known?.chat
      ? Promise.resolve(this.known.chat)
      : readChat(this.rows, this.chatId));
  }

  info(id: string): Promise<NodeInfo | undefined> {
    const node = this.known?.nodes.get(id);
    if (node) return Promise.resolve(infoOf(node));
    if (knows(this.known, id)) return NO_INFO;
    return once(this.#infos, id, () => this.rows.get('nodes', [this.chatId, id], 'id'));
  }

  async body(info: NodeInfo): Promise<UIMessage | undefined> {
    return this.known?.nodes.get(info.id)?.data ?? this.rows.get('bodies', [this.chatId, info.seq]);
  }

  branch(id: string): Promise<Branch | undefined> {
    const branch = this.known?.branches.get(id);
    if (branch) return Promise.resolve(branch);
    return once(this.#branches, id, () => this.rows.get('branches', [this.chatId, id]));
  }

  /**
   * Those of these messages that are there. `isShort`: they are looked up in the whole chat, which is faster than one by one
   * when they are many, and the chat is not much longer.
   */
  async find(ids: readonly string[], isShort: boolean): Promise<ReadonlySet<string>> {
    const unsure = ids.filter((id) => !lacks(this.known, id));
    if (isShort && unsure.length > 0) return this.#findAmongAll(unsure);
    const found = await Promise.all(unsure.map((id) => this.info(id)));
    return new Set(unsure.filter((_, i) => found[i] !== undefined));
  }

  async #findAmongAll(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const all = await this.rows.list('nodes', ofChat(this.chatId));
    const byId = new Map(all.map((info) => [info.id, Promise.resolve(info)]));
    for (const id of ids) this.#infos.set(id, byId.get(id) ?? NO_INFO);
    return new Set(ids.filter((id) => byId.has(id)));
  }
}

/** What a store remembers of the chat that it read or wrote last, for as long as nobody else writes to the database. */
export interface Known {
  /** As it stood then. */
  readonly meta: Meta;
  readonly chatId: string;
  readonly chat?: Chat | undefined;
  /** Where nothing lies in the chat, at this `seq` and beyond; absent where nobody has looked. */
  readonly free?: number | undefined;
  /** Messages that were written last. */
  readonly nodes: ReadonlyMap<string, MessageNode>;
  readonly branches: Map<string, Branch>;
  /** Holds the id of each message of the chat, so that one that is not in it is new; absent where not all are known. */
  readonly ids?: Ids | undefined;
}

/** What whoever has read a whole chat knows of it. */
export function knownFrom(
  chatId: string,
  { chat, branches, nodes }: ChatRecords,
  meta: Meta,
): Known | undefined {
  if (!chat || chat.deletedAt !== undefined) return undefined;
  return {
    meta,
    chatId,
    chat,
    free: nodes.every(({ seq }) => seq < chat.nextSeq) ? chat.nextSeq : undefined,
    nodes: new Map(),
    branches: new Map(branches.map((branch) => [branch.id, branch])),
    ids: new Ids(nodes),
  };
}

/** Ids of messages. A chat that is only read need not be counted, so they are put together when first asked for. */
export class Ids {
  #ids: Set<string> | undefined;
  #source: readonly { readonly id: string }[];
  readonly #added: (readonly string[])[] = [];

  constructor(source: readonly { readonly id: string }[]) {
    this.#source = source;
  }

  has(id: string): boolean {
    return this.#all().has(id);
  }

  add(ids: readonly string[]): void {
    this.#added.push(ids);
  }

  #all(): Set<string> {
    this.#ids ??= new Set(this.#source.map((one) => one.id));
    this.#source = [];
    for (const ids of this.#added.splice(0)) for (const id of ids) this.#ids.add(id);
    return this.#ids;
  }
}

/** Whether a message need not be read: it was written just now, or it is certain that it is not there. */
function knows(known: Known | undefined, id: string): boolean {
  return known?.nodes.has(id) === true || lacks(known, id);
}

/** Whether it is certain that a message is not there. */
function lacks(known: Known | undefined, id: string): boolean {
  return known?.ids?.has(id) === false;
}

const NO_INFO: Promise<undefined> = Promise.resolve(undefined);

/** Whether the database stands where it was when something was known of it. */
function isWhere({ meta: last }: Known, meta: Meta): boolean {
  return (['databaseId', 'seq', 'by'] as const).every((name) => last[name] === meta[name]);
}

/** How many operations are looked at ahead. */
const FORESEEN = 4;

/** The messages that an operation is about: a new one and the one that it follows, or one that is there. */
function messagesOf(op: StoreOp): string[] {
  if (op.op === 'insert') return op.parentId === null ? [op.id] : [op.id, op.parentId];
  return op.op === 'replace' || op.op === 'drop' ? [op.id] : [];
}

function once<T>(known: Map<string, Promise<T>>, key: string, read: () => Promise<T>): Promise<T> {
  const answer = known.get(key) ?? read();
  known.set(key, answer);
  return answer;
}

import type { UIMessage } from 'ai';
import type { Branch, Chat, MessageNode, NodeInfo } from '../graph/graph.ts';
import { infoOf } from '../graph/graph.ts';
import { type Meta, ofChat } from './layout.ts';
import { readMeta } from './meta.ts';
import { readChat } from './rebuild.ts';
import type { Rows } from './rows.ts';
import type { StoreOp } from './store.ts';

/**
 * What a write reads of its chat, in one go, and what it need not read.
 *
 * To ask one thing after the other costs a way to the database and back each time, and an append asks for half a dozen:
 * the chat, whether its message is there, what it follows, which head is to move. All that is named in its operations.
 * So it is asked before the first of them is looked at, and each answer is there when its turn comes. All reads of a
 * transaction come before all writes, so what was read once need not be read again.
 *
 * And mostly it is known. Whoever writes a turn wrote the one before, and every write moves the counter of the database.
 * So if the counter stands where this store left it, nobody has written since, and what this store wrote then is what is
 * there. Only the counter is read, and whether a new message is new. Where somebody did write, or something set the
 * counter back, all is read as if nothing was known.
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
    const [meta] = await Promise.all([readMeta(this.rows), this.#foresee(ops, known)]);
    this.isAlone =
      last !== undefined &&
      (['databaseId', 'seq', 'by'] as const).every((name) => last.meta[name] === meta[name]);
    if (known && !this.isAlone) await this.#foresee(ops, undefined);
    return meta;
  }

  /** Of many messages only the first are read, because many are found in ranges. */
  async #foresee(ops: readonly StoreOp[], known: Known | undefined): Promise<void> {
    const ids = new Set(ops.slice(0, FORESEEN).flatMap(messagesOf));
    const branches = new Set(ops.flatMap((op) => (op.op === 'head' || op.op === 'use' ? [op.branchId] : [])));
    await Promise.all([
      known?.chat ? undefined : this.chat(),
      ...[...ids].map((id) => (known?.nodes.has(id) ? undefined : this.info(id))),
      ...[...branches].map((id) => (known?.branches.has(id) ? undefined : this.branch(id))),
    ]);
  }

  chat(): Promise<Chat | undefined> {
    return (this.#chat ??= this.known?.chat
      ? Promise.resolve(this.known.chat)
      : readChat(this.rows, this.chatId));
  }

  info(id: string): Promise<NodeInfo | undefined> {
    const node = this.known?.nodes.get(id);
    if (node) return Promise.resolve(infoOf(node));
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

  /** Looks up messages in the whole chat: faster than one by one when they are many, and the chat is not much longer. */
  async findAmongAll(ids: readonly string[]): Promise<void> {
    const all = await this.rows.list('nodes', ofChat(this.chatId));
    const byId = new Map(all.map((info) => [info.id, info]));
    for (const id of ids) this.#infos.set(id, Promise.resolve(byId.get(id)));
  }
}

/** What a store remembers of what it wrote to a chat since somebody else has written to the database. */
export interface Known {
  /** As it stood after the last write. */
  readonly meta: Meta;
  readonly chatId: string;
  readonly chat?: Chat | undefined;
  /** Where nothing lies in the chat, at this `seq` and beyond; absent where nobody has looked. */
  readonly free?: number | undefined;
  readonly nodes: ReadonlyMap<string, MessageNode>;
  readonly branches: ReadonlyMap<string, Branch>;
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

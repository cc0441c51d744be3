import type { UIMessage } from 'ai';
import { isContextError, type ContextError } from '../errors.ts';
import type { Branch, Chat, Checkpoint, MessageNode, NodeInfo } from '../graph/graph.ts';
import { applyOps } from '../store/apply.ts';
import type { AppendOptions, AppendResult, OpNamed, StoreOp, StoreTransaction } from '../store/store.ts';
import { bodySum } from '../store/sum.ts';
import type { History } from './history.ts';
import { leaveOut, type Owed } from './leaveOut.ts';
import { sameItems } from './same.ts';

/**
 * Turns that the disk would not take.
 *
 * A full disk is no reason to lose an answer. When the store refuses, the operations are carried out on the engine's
 * own records instead, by the same code that a store uses, and kept here in order. They are tried again, first to
 * last, before any later write. Until then the words live in this tab only, and `saveState` says so.
 *
 * Trying again may stop half-way. What is still here is then newer than what the store tells: its words are kept as
 * they are, and the branches that it moves stay where it moved them.
 *
 * One large file must not keep every later turn off a disk that has room for them. So a write may be made light: what is
 * large in it is left out, and the rest goes first. The whole message is owed to the disk then. Nothing hangs on it, so
 * it waits beside the line, until there is room or until no branch holds the message any more: that is how a person
 * takes the file back. So do words that wait beside the graph: a question that was sent, and is not asked yet.
 */
export class Outbox {
  readonly #isReached: (id: string) => boolean;
  #writes: readonly Waiting[] = [];
  /** The first write, while it is on its way. */
  #sent: Waiting | undefined;
  /** How many of the waiting operations bring words of a message, and how many move the head of a branch, or make one. */
  readonly #words = new Counts();
  readonly #heads = new Counts();
  readonly #owed: Map<string, Owed | Field> = new Map();
  /** Messages that a branch held when other words for them were kept here. */
  readonly #reached: Set<string> = new Set();
  #refusal: ContextError | undefined;

  constructor(isReached: (id: string) => boolean) {
    this.#isReached = isReached;
  }

  /** Whether no write waits in line. Parts of messages may still be {@link owed}. */
  get isEmpty(): boolean {
    return this.#writes.length === 0;
  }

  /** How many messages wait here. */
  get count(): number {
    return this.#words.size + new Set(this.owed.flatMap(owedIn).filter((id) => !this.#words.has(id))).size;
  }

  /** The messages that are on the disk without what is large in them, as far as a branch holds them, and the fields. */
  get owed(): (Owed | Field)[] {
    return [...this.#owed.values()].filter((op) => op.op === 'merge' || this.#isReached(op.id));
  }

  /** Why something is owed; undefined where nothing is. */
  get refusal(): ContextError | undefined {
    return this.owed.length > 0 ? this.#refusal : undefined;
  }

  add(ops: readonly StoreOp[]): void {
    this.#writes = [...this.#writes, { ops, owes: [] }];
    this.#count(ops, 1);
    for (const op of ops) if (op.op === 'replace' && this.#isReached(op.id)) this.#reached.add(op.id);
  }

  #count(ops: readonly StoreOp[], by: 1 | -1): void {
    for (const id of wordsIn(ops)) this.#words.add(id, by);
    for (const op of ops) {
      if (op.op === 'head') this.#heads.add(op.branchId, by);
      if (op.op === 'branch') this.#heads.add(op.id, by);
    }
  }

  /** The heads that the first write moves. */
  get firstHeads(): OpNamed<'head'>[] {
    return (this.#writes[0]?.ops ?? []).filter((op) => op.op === 'head');
  }

  /** Hands out the first write; it is put back if `send` rejects. */
  async sendFirst(send: (ops: readonly StoreOp[]) => Promise<unknown>): Promise<void> {
    const [first, ...rest] = this.#writes;
    if (!first) return;
    this.#writes = rest;
    this.#sent = first;
    this.#count(first.ops, -1);
    try {
      await send(first.ops);
      this.settle(this.#sent.ops, this.#sent.owes);
      for (const id of wordsIn(this.#sent.ops)) if (!this.#words.has(id)) this.#reached.delete(id);
    } catch (error) {
      this.#writes = [this.#sent, ...this.#writes];
      this.#count(this.#sent.ops, 1);
      throw error;
    } finally {
      this.#sent = undefined;
    }
  }

  /** Leaves out of the first write what is large in it, to be written later; false where nothing is. */
  lighten(refusal: ContextError): boolean {
    const [first, ...rest] = this.#writes;
    const { light, owed } = leaveOut(first?.ops ?? []);
    if (!first || owed.length === 0) return false;
    this.#writes = [{ ops: light, owes: [...first.owes, ...owed.map(({ id }) => id)] }, ...rest];
    for (const whole of owed) this.#owed.set(whole.id, whole);
    this.#refusal = refusal;
    return true;
  }

  /** Fields of a record that the disk refused: each waits in the place of what it said before. */
  owe({ key, value }: Field, refusal: ContextError): void {
    for (const [id, field] of Object.entries(value))
      this.#owed.set(fieldKey(key, id), { op: 'merge', key, value: { [id]: field } });
    this.#refusal = refusal;
  }

  /** These were written: of their messages nothing is owed that was said before, but for those that are light. */
  settle(ops: readonly StoreOp[], light: readonly string[] = []): void {
    for (const op of ops) {
      if (op.op === 'merge') for (const id of Object.keys(op.value)) this.#owed.delete(fieldKey(op.key, id));
      const isWhole = op.op === 'drop' || (op.op === 'replace' && op.data !== undefined);
      if (isWhole && !light.includes(op.id)) this.#owed.delete(op.id);
    }
  }

  /** Whether a message waits here, or newer words of it do. */
  has(id: string): boolean {
    return this.#words.has(id) || this.#owed.get(id)?.op === 'replace';
  }

  /** Whether a branch held a message when other words for it were kept here. */
  wasReached(id: string): boolean {
    return this.#reached.has(id);
  }

  /** Whether a branch has another head here than in the store. */
  movesHead(branchId: string): boolean {
    return this.#heads.has(branchId);
  }

  /** The first part of what is here went to a branch of its own: the rest follows it there. */
  redirect(from: string, to: string): void {
    const ways = new Map([[from, to]]);
    const redirectedIn = ({ ops, owes }: Waiting): Waiting => ({
      ops: ops.map((op) => redirected(op, ways)),
      owes,
    });
    // It may come back.
    this.#sent &&= redirectedIn(this.#sent);
    this.#writes = this.#writes.map(redirectedIn);
    this.#heads.move(from, to);
  }

  /**
   * Messages that wait here, or are on their way, have other ids from now on. Where one is taken back, what is said behind that
   * means the other message of its id. Of thousands that wait, few may name them: the rest is left as it is.
   */
  rename(ids: ReadonlyMap<string, string>): void {
    const left = new Map(ids);
    const renamedIn = (waiting: Waiting): Waiting => {
      const ops = waiting.ops.map((op) => {
        const known = renamed(op, left);
        if (op.op === 'drop') left.delete(op.id);
        return known;
      });
      return sameItems(ops, waiting.ops)
        ? waiting
        : { ops, owes: waiting.owes.map((id) => ids.get(id) ?? id) };
    };
    this.#sent &&= renamedIn(this.#sent);
    this.#writes = this.#writes.map((waiting) => {
      const other = renamedIn(waiting);
      if (other !== waiting) {
        this.#count(waiting.ops, -1);
        this.#count(other.ops, 1);
      }
      return other;
    });
    for (const [from, to] of ids) {
      if (this.#reached.delete(from)) this.#reached.add(to);
      const owed = this.#owed.get(from);
      if (!owed) continue;
      this.#owed.delete(from);
      this.#owed.set(to, renamed(owed, ids));
    }
  }
}

/** The branches whose heads these operations move. */
export function headsIn(ops: readonly StoreOp[]): string[] {
  return ops.flatMap((op) => (op.op === 'head' ? [op.branchId] : []));
}

/** The messages that these operations bring. */
export function idsIn(ops: readonly StoreOp[]): string[] {
  return ops.flatMap((op) => (op.op === 'insert' ? op.id : []));
}

/** An operation with other ids for messages, wherever it names them; the same one where it names none of them. */
export function renamed<Op extends StoreOp>(op: Op, ids: ReadonlyMap<string, string>): Op {
  const fields: Partial<Record<string, unknown>> = { ...op };
  const names = (NAMING[op.op] ?? []).filter((field) => ids.has(fields[field] as string));
  if (names.length === 0) return op;
  for (const field of names) fields[field] = ids.get(fields[field] as string);
  if (isWords(op) && op.data && ids.has(op.id)) fields['data'] = { ...op.data, id: fields['id'] };
  return fields as Op;
}

/** Where operations name messages. */
const NAMING: Partial<Record<StoreOp['op'], readonly string[]>> = {
  insert: ['id', 'parentId'],
  replace: ['id'],
  drop: ['id'],
  head: ['expected', 'messageId'],
  branch: ['messageId'],
  checkpoint: ['messageId'],
};

/** An operation that goes to another branch than the one it was meant for. */
export function redirected(op: StoreOp, ways: ReadonlyMap<string, string>): StoreOp {
  if (op.op === 'restore-branch' || op.op === 'rename-branch' || op.op === 'delete-branch')
    return { ...op, id: ways.get(op.id) ?? op.id };
  const to = op.op === 'head' || op.op === 'use' ? ways.get(op.branchId) : undefined;
  return to === undefined ? op : { ...(op as HeadOrUse), branchId: to };
}

type HeadOrUse = OpNamed<'head' | 'use'>;

/** How often things are there. Each write that is sent asks, and thousands may wait: nobody goes through them for that. */
class Counts {
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#counts.size;
  }

  has(id: string): boolean {
    return this.#counts.has(id);
  }

  add(id: string, by: number): void {
    const count = (this.#counts.get(id) ?? 0) + by;
    if (count > 0) this.#counts.set(id, count);
    else this.#counts.delete(id);
  }

  move(from: string, to: string): void {
    const count = this.#counts.get(from) ?? 0;
    this.add(from, -count);
    this.add(to, count);
  }
}

interface Waiting {
  readonly ops: readonly StoreOp[];
  /** The messages that it brings without what is large in them. */
  readonly owes: readonly string[];
}

/** Fields of a record beside the chat: null takes one out. */
type Field = OpNamed<'merge'>;

function fieldKey(key: string, id: string): string {
  return `${key} ${id}`;
}

/** The messages that are owed with an operation; none where something is only to be taken out. */
function owedIn(op: Owed | Field): string[] {
  if (op.op === 'replace') return [op.id];
  return Object.entries(op.value).flatMap(([id, field]) => (field === null ? [] : id));
}

/** The messages whose words some operations bring. */
function wordsIn(ops: readonly StoreOp[]): string[] {
  return ops.flatMap((op) => (isWords(op) ? [op.id] : []));
}

function isWords(op: StoreOp): op is OpNamed<'insert' | 'replace'> {
  return op.op === 'insert' || op.op === 'replace';
}

/** Whether a store's refusal is one to wait out, with the words kept in memory. */
export function isRefusal(error: unknown): error is ContextError {
  return isContextError(error) && REFUSALS.has(error.code);
}

const REFUSALS: ReadonlySet<string> = new Set([
  'quota-exceeded',
  'store-closed',
  'store-unavailable',
  'store-blocked',
  'newer-format',
]);

/** The device of records that no store has taken yet. */
export const MEMORY = 'memory';

/** Carries operations out on what the engine knows, as a store would. The records get their final numbers later. */
export function applyLocally(
  history: History,
  chatId: string,
  ops: readonly StoreOp[],
  options: AppendOptions,
): Promise<AppendResult> {
  return applyOps(new LocalTransaction(history, chatId), ops, options, Date.now());
}

/** A transaction over an engine's own records. Its writes go nowhere: the engine takes in the result. */
class LocalTransaction implements StoreTransaction {
  readonly chatId: string;
  readonly deviceId = MEMORY;
  readonly #history: History;

  constructor(history: History, chatId: string) {
    this.#history = history;
    this.chatId = chatId;
  }

  async chat(): Promise<Chat | undefined> {
    const { chat, nextSeq } = this.#history;
    return chat && { ...chat, nextSeq };
  }

  async seq(): Promise<number> {
    return this.#history.lastSeq;
  }

  async info(id: string): Promise<NodeInfo | undefined> {
    return this.#history.graph.nodes.get(id);
  }

  async node(id: string): Promise<MessageNode | undefined> {
    const info = this.#history.graph.nodes.get(id);
    if (!info) return undefined;
    const { preview: _preview, parts: _parts, ...rest } = info;
    return {
      ...rest,
      data: this.#history.body(id)?.data ?? { id, role: info.name as UIMessage['role'], parts: [] },
    };
  }

  async draft(id: string): Promise<UIMessage | undefined> {
    return this.#history.body(id)?.data;
  }

  async hasChildren({ id }: NodeInfo): Promise<boolean> {
    return this.#history.graph.children.has(id);
  }

  async branch(id: string): Promise<Branch | undefined> {
    const branch = this.#history.branches.get(id);
    return branch && { ...branch, headMessageId: this.#history.view(id) };
  }

  async branches(): Promise<readonly Branch[]> {
    return [...this.#history.branches.values()];
  }

  async checkpoints(): Promise<readonly Checkpoint[]> {
    return [...this.#history.checkpoints.values()];
  }

  bodyHash(body: UIMessage): string {
    return bodySum(JSON.stringify(body));
  }

  async value(): Promise<undefined> {
    return undefined;
  }

  purge(): void {}
  putChat(): void {}
  putNode(): void {}
  dropNode(): void {}
  putBranch(): void {}
  putCheckpoint(): void {}
  putChanges(): void {}
  putValue(): void {}
}

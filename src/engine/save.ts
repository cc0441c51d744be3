import type { UIMessage } from 'ai';
import type { MessageGraph } from '../graph/graph.ts';
import type { StoreOp } from '../store/store.ts';

/**
 * Which message goes where.
 *
 * `save()` is given a handful of messages and a graph, and has to decide for each: is it new, is it a retry of
 * something that was saved already, is it another version of something older? The rules are few. What is new follows
 * what came before it. What is there already and equal is left alone, so that a retry never forks. What is there and
 * differs becomes a sibling of the old version on a new branch; everything after it follows it there, and the old
 * version keeps its branch and its descendants. Only `branch: false` replaces in place, and then nothing moves.
 *
 * The plan is data. `save()` carries it out in one transaction; `resolve()` reads from it what the chain would look
 * like, so that the model sees exactly what a save would write.
 */

/** A message that waits to be saved: one with an id, or new words for the last assistant message. */
export type PendingMessage =
  | { readonly kind: 'message'; readonly message: UIMessage; readonly persist: boolean }
  | { readonly kind: 'last-assistant'; readonly text: string; readonly persist: boolean };

/** What a plan is made from. Bodies of every known pending id, and of the last assistant, must be loaded. */
export interface SaveInput {
  readonly graph: MessageGraph;
  /** The message of this chat with this id; undefined when there is none. */
  readonly messageOf: (id: string) => UIMessage | undefined;
  readonly branch: { readonly id: string; readonly name: string };
  /** The last message shown: where new messages go. */
  readonly head: string | null;
  /** Whether the head is a message checked out: the first new message then makes a branch. */
  readonly detached: boolean;
  /** The chain up to the head, root first. */
  readonly chain: readonly string[];
  readonly pending: readonly PendingMessage[];
  /** `branch: false`: replace known messages where they are. */
  readonly inPlace: boolean;
  /** Whether anything but this branch points at a message. */
  readonly isShared: (id: string) => boolean;
  /** The name that a fork beside the children of a message is made from. */
  readonly forkBase: (parentId: string | null, role: string) => string;
  readonly newId: () => string;
}

/** What a save would do. */
export interface SavePlan {
  readonly ops: readonly StoreOp[];
  /** The head that the branch shown has afterwards. */
  readonly head: string | null;
  /** The branch that the save makes; undefined when it stays on its branch. */
  readonly forkId: string | undefined;
  /** The chain of the branch shown afterwards: saved messages up to this one... */
  readonly base: string | null;
  /** ...some of them replaced... */
  readonly replaced: ReadonlyMap<string, UIMessage>;
  /** ...and then these, new. Ones with `persist: false` are among them, though not written. */
  readonly tail: readonly UIMessage[];
}

/** Decides what a save of these messages does. Pure; writes nothing. */
export function planSave(input: SaveInput): SavePlan {
  const plan = new Plan(input);
  for (const pending of settlePending(input)) plan.take(pending);
  return plan.finish();
}

/** The pending messages with lazy ones resolved and double ids merged: the later one wins, at the first one's place. */
function settlePending(input: SaveInput): Settled[] {
  const settled: Settled[] = [];
  for (const pending of input.pending) {
    const next = pending.kind === 'message' ? { ...pending, overwrite: false } : resolveLast(input, settled, pending);
    const at = settled.findIndex(({ message }) => message.id === next.message.id);
    if (at < 0) settled.push(next);
    else settled[at] = next;
  }
  return settled;
}

interface Settled {
  readonly message: UIMessage;
  readonly persist: boolean;
  /** New words for the last assistant message: replace it if nothing hangs on it, rather than fork. */
  readonly overwrite: boolean;
}

function resolveLast(
  input: SaveInput,
  settled: readonly Settled[],
  lazy: { readonly text: string; readonly persist: boolean },
): Settled {
  const parts: UIMessage['parts'] = [{ type: 'text', text: lazy.text }];
  const pending = settled.findLast(({ message }) => message.role === 'assistant');
  if (pending) return { ...pending, message: { ...pending.message, parts } };
  const known = input.chain.findLast((id) => input.graph.nodes.get(id)?.name === 'assistant');
  const body = known === undefined ? undefined : input.messageOf(known);
  const message: UIMessage = body ? { ...body, parts } : { id: input.newId(), role: 'assistant', parts };
  const overwrite = known !== undefined && known === input.head && !input.detached && !input.isShared(known);
  return { message, persist: lazy.persist, overwrite };
}

class Plan {
  readonly #input: SaveInput;
  readonly #ops: StoreOp[] = [];
  readonly #replaced = new Map<string, UIMessage>();
  readonly #forkId: string;
  #fork: { readonly base: string } | undefined;
  /** The chain shown afterwards ends at this saved message, followed by the tail. */
  #base: string | null;
  #tail: UIMessage[] = [];
  #cursor: string | null;

  constructor(input: SaveInput) {
    this.#input = input;
    this.#forkId = input.newId();
    this.#base = input.head;
    this.#cursor = input.head;
  }

  take({ message, persist, overwrite }: Settled): void {
    if (!persist) this.#tail.push(message);
    else if (this.#fork) this.#insert(this.#isKnown(message.id) ? this.#renamed(message) : message);
    else if (!this.#isKnown(message.id)) this.#insertNew(message);
    else if (sameContent(this.#input.messageOf(message.id), message)) return;
    else if (this.#input.inPlace || overwrite) this.#replace(message);
    else this.#forkAt(message);
  }

  #isKnown(id: string): boolean {
    return this.#input.graph.nodes.has(id);
  }

  #renamed(message: UIMessage): UIMessage {
    return { ...message, id: this.#input.newId() };
  }

  #insertNew(message: UIMessage): void {
    if (this.#input.detached) this.#fork = { base: this.#input.branch.name };
    this.#insert(message);
  }

  #insert(message: UIMessage): void {
    this.#ops.push({ op: 'insert', id: message.id, parentId: this.#cursor, data: message, status: 'complete' });
    this.#tail.push(message);
    this.#cursor = message.id;
  }

  #replace(message: UIMessage): void {
    const rev = this.#input.graph.nodes.get(message.id)?.rev;
    this.#ops.push({ op: 'replace', id: message.id, data: message, ...(rev === undefined ? {} : { rev }) });
    this.#replaced.set(message.id, message);
  }

  /** The first changed message makes a sibling of its old version; what was new before it stays where it was. */
  #forkAt(message: UIMessage): void {
    const parentId = this.#input.graph.nodes.get(message.id)?.parentId ?? null;
    this.#moveHead();
    this.#fork = { base: this.#input.forkBase(parentId, message.role) };
    this.#base = parentId;
    this.#tail = [];
    this.#cursor = parentId;
    this.#insert(this.#renamed(message));
  }

  /** The head op of the branch itself, when something new was put on it. */
  #moveHead(): void {
    const { branch, head, newId } = this.#input;
    if (this.#cursor === head) return;
    this.#ops.push({ op: 'head', branchId: branch.id, expected: head, messageId: this.#cursor, forkId: newId() });
  }

  finish(): SavePlan {
    if (this.#fork) this.#makeBranch(this.#fork.base);
    else this.#moveHead();
    return {
      ops: this.#ops,
      head: this.#cursor,
      forkId: this.#fork ? this.#forkId : undefined,
      base: this.#base,
      replaced: this.#replaced,
      tail: this.#tail,
    };
  }

  #makeBranch(base: string): void {
    this.#ops.push({ op: 'branch', id: this.#forkId, base, messageId: this.#cursor });
    this.#ops.push({ op: 'use', branchId: this.#forkId });
  }
}

/** Whether two messages say the same: role, parts and metadata, as JSON would keep them. */
export function sameContent(a: UIMessage | undefined, b: UIMessage): boolean {
  return a !== undefined && a.role === b.role && sameJson(a.parts, b.parts) && sameJson(a.metadata, b.metadata);
}

/** Whether two values are equal as JSON: keys in any order, undefined like absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const left = Object.entries(a).filter(([, value]) => value !== undefined);
  const right = Object.entries(b).filter(([, value]) => value !== undefined);
  if (left.length !== right.length) return false;
  return left.every(([key, value]) => Object.hasOwn(b, key) && sameJson(value, (b as Record<string, unknown>)[key]));
}

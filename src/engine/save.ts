import type { UIMessage } from 'ai';
import { stripReminders } from '../fragment/fold.ts';
import { isVisible, type MessageGraph, type NodeInfo } from '../graph/graph.ts';
import type { StoreOp } from '../store/store.ts';
import { sameJson } from './sameJson.ts';

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
  /** The branch that the save makes; undefined when it stays on its branch. */
  readonly forkId: string | undefined;
  /** The chain of the branch shown afterwards: saved messages up to this one... */
  readonly base: string | null;
  /** ...some of them replaced... */
  readonly replaced: ReadonlyMap<string, UIMessage>;
  /** ...and then these, new. Ones with `persist: false` are among them, though not written. */
  readonly tail: readonly UIMessage[];
  /** The user messages among the replaced and the new ones, in order. */
  readonly asked: readonly Asked[];
}

/** A user message that a save writes, or that goes out unsaved, and where it stands. */
export interface Asked {
  /** As it was pending. */
  readonly message: UIMessage;
  /** The last saved message before it; null where it begins the chat... */
  readonly after: string | null;
  /** ...and the new ones between the two. */
  readonly between: readonly UIMessage[];
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
  const places = new Map<string, number>();
  for (const pending of input.pending) {
    const next =
      pending.kind === 'message' ? { ...pending, overwrite: false } : resolveLast(input, settled, pending);
    const at = places.get(next.message.id) ?? settled.length;
    places.set(next.message.id, at);
    settled[at] = next;
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
  const last = lastAnswer(input.graph, input.chain);
  const body = last && input.messageOf(last.id);
  const message: UIMessage = body ? { ...body, parts } : { id: input.newId(), role: 'assistant', parts };
  return { message, persist: lazy.persist, overwrite: last !== undefined && isReplaceable(input, last) };
}

/** The last answer of a chain; one that is reserved and has said nothing yet is none. */
export function lastAnswer({ nodes }: MessageGraph, chain: readonly string[]): NodeInfo | undefined {
  return nodes.get(chain.findLast((id) => isAnswer(nodes.get(id))) ?? '');
}

function isAnswer(info: NodeInfo | undefined): boolean {
  return info?.name === 'assistant' && isVisible(info);
}

/** Whether nothing hangs on an answer, nobody points at it, and nobody writes it right now. */
function isReplaceable({ head, detached, isShared }: SaveInput, { id, status }: NodeInfo): boolean {
  return id === head && !detached && status !== 'streaming' && !isShared(id);
}

class Plan {
  readonly #input: SaveInput;
  readonly #ops: StoreOp[] = [];
  readonly #replaced = new Map<string, UIMessage>();
  /** The branch that new messages make; undefined while they go to the head of the branch shown. */
  #branch: { readonly id: string; readonly base: string } | undefined;
  #isFork = false;
  /** Where new messages begin: a saved message, followed by the tail... */
  #base: string | null;
  #tail: UIMessage[] = [];
  readonly #asked: Asked[] = [];
  /** ...whose last written one is this. */
  #cursor: string | null;

  constructor(input: SaveInput) {
    this.#input = input;
    this.#branch = input.detached ? { id: input.newId(), base: input.branch.name } : undefined;
    this.#base = input.head;
    this.#cursor = input.head;
  }

  take({ message, persist, overwrite }: Settled): void {
    const isKnown = this.#input.graph.nodes.has(message.id);
    if (!persist) this.#tail.push(message);
    else if (!isKnown) this.#insert(message);
    else if (this.#isFork) this.#insert(this.#renamed(message));
    else if (sameContent(this.#input.messageOf(message.id), message)) return;
    else if (this.#input.inPlace || overwrite) this.#replace(message);
    else this.#forkAt(message);
    if (message.role === 'user') this.#asked.push(this.#askedWith(message));
  }

  /** The message that was taken last, in its place. Whoever looks at what stands before it copies that, and few do. */
  #askedWith(message: UIMessage): Asked {
    if (this.#replaced.has(message.id)) {
      const after = this.#input.graph.nodes.get(message.id)?.parentId ?? null;
      return { message, after, between: [] };
    }
    const [tail, at] = [this.#tail, this.#tail.length - 1];
    return {
      message,
      after: this.#base,
      get between() {
        return tail.slice(0, at);
      },
    };
  }

  #renamed(message: UIMessage): UIMessage {
    return { ...message, id: this.#input.newId() };
  }

  #insert(message: UIMessage): void {
    this.#ops.push({
      op: 'insert',
      id: message.id,
      parentId: this.#cursor,
      data: message,
      status: 'complete',
    });
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
    const { graph, forkBase, newId } = this.#input;
    const parentId = graph.nodes.get(message.id)?.parentId ?? null;
    this.#close();
    this.#branch = { id: newId(), base: forkBase(parentId, message.role) };
    this.#isFork = true;
    this.#base = parentId;
    this.#tail = [];
    this.#cursor = parentId;
    this.#insert(this.#renamed(message));
  }

  /** Points at the last message of what was written: with the head of the branch shown, or with a branch of its own. */
  #close(): void {
    const { branch, head: expected, newId } = this.#input;
    const messageId = this.#cursor;
    if (!this.#isWritten) return;
    if (this.#branch) this.#ops.push({ op: 'branch', ...this.#branch, messageId });
    else this.#ops.push({ op: 'head', branchId: branch.id, expected, messageId, forkId: newId() });
  }

  get #isWritten(): boolean {
    return this.#cursor !== this.#base;
  }

  finish(): SavePlan {
    this.#close();
    const forkId = this.#isWritten ? this.#branch?.id : undefined;
    if (this.#isWritten) this.#ops.push({ op: 'use', branchId: forkId ?? this.#input.branch.id });
    const [base, replaced, tail, asked] = [this.#base, this.#replaced, this.#tail, this.#asked];
    return { ops: this.#ops, forkId, base, replaced, tail, asked };
  }
}

/** Whether two messages say the same: role, parts and metadata, as JSON would keep them, but for reminders. */
export function sameContent(a: UIMessage | undefined, b: UIMessage): boolean {
  if (a === undefined || a.role !== b.role) return false;
  const [left, right] = [stripReminders(a), stripReminders(b)];
  return sameJson(left.parts, right.parts) && sameJson(left.metadata, right.metadata);
}

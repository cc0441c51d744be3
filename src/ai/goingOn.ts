import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { sameItems } from '../engine/same.ts';
import { isContextError } from '../errors.ts';
import { headOf } from './list.ts';
import { isToolPart, isWaiting, type ToolPart } from './toolPart.ts';
import type { RequestNote } from './transport.ts';

/**
 * Whether an answer that a server still streams has a place: after a question, also one that is about to be saved, or
 * where an answer was cut off. Not where another tab is at work: it is that tab's answer, and would be a second one here.
 * Nor where the list ends with none of `asked` any more, as it did when the server was asked: the person went elsewhere.
 */
export function mayGoOn(
  engine: ContextEngine,
  last: UIMessage | undefined,
  asked: readonly unknown[],
): boolean {
  if (!last || !asked.includes(last.id) || engine.state.getState().elsewhere.length > 0) return false;
  return last.role === 'user' || (engine.status(last.id) ?? 'complete') !== 'complete';
}

/**
 * What a server may still stream on a branch, behind its last message that is shown: that answer, or the one that was
 * reserved for that question, and never said a word here. Null where more is saved behind that message: the person looks
 * at an earlier place.
 */
export async function awaited(
  engine: ContextEngine,
  branchId: string | undefined,
  last: UIMessage | undefined,
): Promise<Partial<RequestNote> | null> {
  if (!last) return {};
  const end = headOf(engine, branchId) ?? last.id;
  if (end !== last.id && engine.status(end) !== 'streaming') return null;
  const branches = await engine.store.listBranches(engine.chatId).catch(() => []);
  const branch = branches.find(({ id }) => id === branchId);
  if (!branch) return {};
  const head = branch.headMessageId ?? '';
  const isReserved = last.role === 'user' && engine.node(head)?.parentId === last.id;
  const answerId = last.role === 'assistant' ? last.id : isReserved ? head : undefined;
  return { branch: branch.name, branchId: branch.id, ...(answerId === undefined ? {} : { answerId }) };
}

/** Lets go of a server whose answer is not taken up after all, however that came about: it would go on for nobody. */
export function orLetGo<T>(source: ReadableStream<unknown>, taken: Promise<T | null>): Promise<T | null> {
  const letGo = (): Promise<void> => source.cancel();
  taken.then((answer) => (answer ? undefined : letGo()), letGo).catch(() => {});
  return taken;
}

/** Leaves an answer to another tab that took it up first; anything else that went wrong is told. */
export function leave(error: unknown): null {
  if (isContextError(error, 'busy')) return null;
  throw error;
}

/**
 * The version of an answer that says more; the second one, where they say as much. A server that says an answer anew does
 * not know what the page gave its calls: those of the first one keep what they got.
 */
export function longer<M extends UIMessage>(first: M | undefined, second: M): M {
  if (!first) return second;
  if (sizeOf(first) > sizeOf(second)) return first;
  // Texts may be parted otherwise: calls are compared in their order.
  const calls = first.parts.filter(isToolPart).values();
  const parts = second.parts.map((part) => (isToolPart(part) ? given(calls.next().value, part) : part));
  return sameItems(parts, second.parts) ? second : { ...second, parts };
}

/** A call as it is now, or where it waits, with what it was given before. */
function given(before: Part | undefined, now: Part & ToolPart): Part {
  const isGiven = before && isToolPart(before) && isAsked(before) && !isWaiting(before) && isWaiting(now);
  return isGiven && before.toolCallId === now.toolCallId ? before : now;
}

/** Whether all of a call is said. */
function isAsked({ state }: ToolPart): boolean {
  return state !== 'input-streaming';
}

type Part = UIMessage['parts'][number];

/** How much a message says. */
export function sizeOf({ parts }: UIMessage): number {
  return parts.reduce((size, part) => size + ('text' in part ? part.text.length : 1), 0);
}

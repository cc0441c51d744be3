import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { sameItems } from '../engine/same.ts';
import { isContextError } from '../errors.ts';
import { isToolPart, isWaiting } from './toolPart.ts';
import type { Seam } from './seam.ts';
import type { RequestNote } from './transport.ts';

/**
 * Whether an answer that a server still streams has a place: after a question, also one that is about to be saved, or
 * where an answer was cut off. Not where another tab is at work: it is that tab's answer, and would be a second one here.
 */
export function mayGoOn(engine: ContextEngine, last: UIMessage | undefined): boolean {
  if (!last || engine.state.getState().elsewhere.length > 0) return false;
  return last.role === 'user' || (engine.status(last.id) ?? 'complete') !== 'complete';
}

/**
 * What a server may still stream on a branch, behind its last message that is shown: that answer, or the one that was
 * reserved for that question, and never said a word here.
 */
export async function awaited(
  engine: ContextEngine,
  branchId: string | undefined,
  last: UIMessage | undefined,
): Promise<Partial<RequestNote>> {
  if (!last) return {};
  const branches = await engine.store.listBranches(engine.chatId).catch(() => []);
  const branch = branches.find(({ id }) => id === branchId);
  if (!branch) return {};
  const head = branch.headMessageId ?? '';
  const isReserved = last.role === 'user' && engine.node(head)?.parentId === last.id;
  const answerId = last.role === 'assistant' ? last.id : isReserved ? head : undefined;
  return { branch: branch.name, branchId: branch.id, ...(answerId === undefined ? {} : { answerId }) };
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
  const parts = second.parts.map((part, i) => given(first.parts[i], part) ?? part);
  return sameItems(parts, second.parts) ? second : { ...second, parts };
}

/** What a call was given that waits; undefined for anything else. */
function given(before: Part | undefined, now: Part): Part | undefined {
  const isGiven = before && isToolPart(before) && !isWaiting(before) && isToolPart(now) && isWaiting(now);
  return isGiven && before.toolCallId === now.toolCallId ? before : undefined;
}

type Part = UIMessage['parts'][number];

function sizeOf({ parts }: UIMessage): number {
  return parts.reduce((size, part) => size + ('text' in part ? part.text.length : 1), 0);
}

/** The seam of an answer that is to go on; undefined where there is none, or it did not break off in a text. */
export function seamOf(answer: UIMessage | undefined): Seam | undefined {
  const last = answer?.parts.at(-1);
  if (!answer || last?.type !== 'text' || last.state !== 'streaming') return undefined;
  return { id: answer.id, at: answer.parts.length, text: last.text };
}

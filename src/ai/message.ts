import type { UIMessage } from 'ai';

/** What a message says: pure questions about one, for whichever version of the AI SDK. */

export type Part = UIMessage['parts'][number];

/** A call of a tool, of whichever tool and version of the AI SDK. */
export interface ToolPart {
  readonly type: string;
  readonly toolCallId: string;
  readonly state: string;
  readonly preliminary?: boolean;
  readonly providerExecuted?: boolean;
  readonly approval?: { readonly id: string };
}

/** Whether a part is a call of a tool. */
export function isToolPart(part: { readonly type: string }): part is ToolPart {
  return part.type === 'dynamic-tool' || part.type.startsWith('tool-');
}

/** Whether a call of a tool waits for its result, or for leave. */
export function isWaiting({ state }: ToolPart): boolean {
  return state === 'input-available' || state === 'approval-requested';
}

/** The calls of tools in a message, in their order. */
export function callsIn({ parts }: UIMessage): readonly ToolPart[] {
  return parts.flatMap((part): ToolPart[] => (isToolPart(part) ? [part] : []));
}

/** Whether a part is a call that waits for the page or the person, and not for a provider, which runs it by itself. */
export function waitsForPage(part: Part): boolean {
  return isToolPart(part) && isWaiting(part) && !isProviders(part);
}

function isProviders({ state, providerExecuted }: ToolPart): boolean {
  return providerExecuted === true && state !== 'approval-requested';
}

/** Whether a message says anything: more than the marks of its steps, and texts that have not begun. */
export function hasWords(message: UIMessage): boolean {
  return message.parts.some((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return part.text !== '';
    return part.type !== 'step-start';
  });
}

/** How much a message says. */
export function sizeOf({ parts }: UIMessage): number {
  return parts.reduce((size, part) => size + ('text' in part ? part.text.length : 1), 0);
}

/**
 * The version of an answer that says more; the second one, where they say as much. A server that says an answer anew does
 * not know what the page gave its calls: those of the first one keep what they got.
 */
export function longer<M extends UIMessage>(first: M | undefined, second: M): M {
  if (!first) return second;
  if (sizeOf(first) > sizeOf(second)) return first;
  // Texts may be parted otherwise: calls are compared in their order.
  const calls = callsIn(first).values();
  const parts = second.parts.map((part) => (isToolPart(part) ? given(calls.next().value, part) : part));
  return parts.every((part, i) => part === second.parts[i]) ? second : { ...second, parts };
}

/** A call as it is now, or where it waits, with what it was given before. */
function given(before: ToolPart | undefined, now: Part & ToolPart): Part {
  const isGiven =
    before?.toolCallId === now.toolCallId &&
    isWaiting(now) &&
    !isWaiting(before) &&
    before.state !== 'input-streaming';
  return isGiven ? (before as Part & ToolPart) : now;
}

/** A message as JSON has it: what can't be said in it is left out, of metadata that have no end all. */
export function asJson<M extends UIMessage>(message: M): M {
  try {
    return JSON.parse(JSON.stringify(message, withoutBigInts)) as M;
  } catch {
    const { metadata: _metadata, ...words } = message;
    return JSON.parse(JSON.stringify(words, withoutBigInts)) as M;
  }
}

function withoutBigInts(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

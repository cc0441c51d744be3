import type { UIMessage } from 'ai';

export type Part = UIMessage['parts'][number];

/** A tool call, static or dynamic. */
export interface ToolPart {
  readonly type: string;
  readonly toolCallId: string;
  readonly state: string;
  readonly preliminary?: boolean;
  readonly providerExecuted?: boolean;
  readonly approval?: { readonly id: string };
}

export function isToolPart(part: { readonly type: string }): part is ToolPart {
  return part.type === 'dynamic-tool' || part.type.startsWith('tool-');
}

/** Whether a tool call waits for its result or an approval. */
export function isWaiting({ state }: ToolPart): boolean {
  return state === 'input-available' || state === 'approval-requested';
}

/** The tool calls of a message, in order. */
export function callsIn({ parts }: Pick<UIMessage, 'parts'>): readonly ToolPart[] {
  return parts.flatMap((part): ToolPart[] => (isToolPart(part) ? [part] : []));
}

/** Whether a part is a tool call that waits for the page or the person; a provider runs its own tools by itself. */
export function waitsForPage(part: Part): boolean {
  const { state, providerExecuted } = part as ToolPart;
  return isToolPart(part) && isWaiting(part) && (!providerExecuted || state === 'approval-requested');
}

/** Whether a message has content: more than step marks and texts that have not begun. */
export function hasWords(message: UIMessage): boolean {
  return message.parts.some((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return part.text !== '';
    return part.type !== 'step-start';
  });
}

/** The length of a message's content as JSON. */
export function sizeOf({ parts }: UIMessage): number {
  return parts.reduce((size, part) => size + ('text' in part ? part.text.length : 1), 0);
}

/** The longer of two versions, or the second one; the calls of the first keep what the page gave them, and no server knows. */
export function longer(first: UIMessage | undefined, second: UIMessage): UIMessage {
  if (!first) return second;
  if (sizeOf(first) > sizeOf(second)) return first;
  // A replay may split texts differently, so calls are matched by their order.
  const calls = callsIn(first).values();
  const parts = second.parts.map((part) => (isToolPart(part) ? given(calls.next().value, part) : part));
  return parts.every((part, i) => part === second.parts[i]) ? second : { ...second, parts };
}

/** A tool call as it is now; one that waits takes the result that it had before. */
function given(before: ToolPart | undefined, now: Part & ToolPart): Part {
  const isGiven =
    before?.toolCallId === now.toolCallId &&
    isWaiting(now) &&
    !isWaiting(before) &&
    before.state !== 'input-streaming';
  return isGiven ? (before as Part & ToolPart) : now;
}

/** A message as JSON holds it: functions are left out, and metadata with a cycle are dropped. */
export function asJson(message: UIMessage): UIMessage {
  try {
    return JSON.parse(JSON.stringify(message, withoutBigInts)) as UIMessage;
  } catch {
    const { metadata: _metadata, ...words } = message;
    return JSON.parse(JSON.stringify(words, withoutBigInts)) as UIMessage;
  }
}

function withoutBigInts(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

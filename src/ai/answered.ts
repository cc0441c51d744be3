import type { UIMessage } from 'ai';
import { sameItems } from '../engine/same.ts';
import { isToolPart, isWaiting, type ToolPart } from './prompt.ts';

/** What a call of a tool waits for: its result, or a person's word on it; as the AI SDK's chat is told. */
export type Given = Readonly<Record<string, unknown>>;

/**
 * A message, when a call in it has got what it waits for. `newest` is the message as it is known to be saved: another tab
 * may have answered another one of its calls, and this one must not take that back.
 */
export function answered<M extends UIMessage>(
  message: M,
  isCall: (part: ToolPart) => boolean,
  given: Given,
  newest: M | undefined,
): M {
  const known = 'approved' in given ? approvalOf(given) : resultOf(given);
  const parts = message.parts.map((part, i) => {
    if (!isToolPart(part) || !isWaiting(part)) return part;
    if (isCall(part)) return { ...part, ...known };
    const now = newest?.parts[i];
    return now && isToolPart(now) && now.toolCallId === part.toolCallId ? now : part;
  });
  return sameItems(parts, message.parts) ? message : { ...message, parts };
}

/** What a tool gave, without what says whose it is. */
function resultOf({ tool: _tool, toolCallId: _id, options: _options, ...result }: Given): object {
  return { state: 'output-available', ...result };
}

function approvalOf({ id, approved, reason }: Given): object {
  return { state: 'approval-responded', approval: { id, approved, reason } };
}

import type { UIMessage } from 'ai';
import { isToolPart, type ToolPart } from './prompt.ts';

/** What a call of a tool waits for: its result, or a person's word on it; as the AI SDK's chat is told. */
export type Given = Readonly<Record<string, unknown>>;

/** A message, when a call in it has got what it waits for. */
export function answered<M extends UIMessage>(
  message: M,
  isCall: (part: ToolPart) => boolean,
  given: Given,
): M {
  const known = 'approved' in given ? approvalOf(given) : resultOf(given);
  const parts = message.parts.map((part) =>
    isToolPart(part) && isCall(part) ? { ...part, ...known } : part,
  );
  return { ...message, parts };
}

/** What a tool gave, without what says whose it is. */
function resultOf({ tool: _tool, toolCallId: _id, options: _options, ...result }: Given): object {
  return { state: 'output-available', ...result };
}

function approvalOf({ id, approved, reason }: Given): object {
  return { state: 'approval-responded', approval: { id, approved, reason } };
}

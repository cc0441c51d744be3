import type { UIMessage } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import { sameItems } from '../engine/same.ts';
import { sameJson } from '../engine/sameJson.ts';
import { ContextError } from '../errors.ts';
import { isToolPart, isWaiting, type ToolPart } from './toolPart.ts';

/** What a call of a tool waits for: its result, or a person's word on it; as the AI SDK's chat is told. */
export type Given = Readonly<Record<string, unknown>>;

/**
 * A message, when a call in it has got what it waits for. `saved` is the message as it is known to be saved, where nobody
 * writes it here: another tab may have let it go on or answered another one of its calls, and this must not take that
 * back; nor what was given here a moment ago, and is still on its way to the disk.
 *
 * @throws head-moved where another tab has given this very call something else
 */
export function answered<M extends UIMessage>(
  message: M,
  isCall: (part: ToolPart) => boolean,
  given: Given,
  saved: M | undefined,
): M {
  const known = 'approved' in given ? approvalOf(given) : resultOf(given);
  const newest = saved?.parts.some((part) => isToolPart(part) && isCall(part)) ? saved : message;
  const parts = newest.parts.map((part, i) => {
    if (!isToolPart(part)) return part;
    if (newest === saved && isCall(part) && !isWaiting(part)) expectSame(part, given);
    if (!isWaiting(part)) return part;
    if (isCall(part)) return { ...part, ...known };
    const own = message.parts[i];
    return own && isToolPart(own) && own.toolCallId === part.toolCallId ? own : part;
  });
  return sameItems(parts, newest.parts) ? newest : { ...newest, parts };
}

/** The first word on a call counts; the same one again is no other. */
function expectSame(part: ToolPart & Given, given: Given): void {
  const isSame =
    'approved' in given
      ? sameJson((part.approval as Given | undefined)?.['approved'], given['approved'])
      : sameJson(part['output'], given['output']) && sameJson(part['errorText'], given['errorText']);
  if (isSame) return;
  throw new ContextError(
    'head-moved',
    'This call of a tool was answered before, here or in another tab. That answer is kept.',
    {
      details: { toolCallId: part.toolCallId },
    },
  );
}

/**
 * The message in which a call waits for its result, or for leave, wherever in the tree it is; the newest, where several
 * have a call of that name. Reads answers from the newest on, until it is found.
 */
export async function waitingCall(
  engine: ContextEngine,
  isCall: (part: ToolPart) => boolean,
): Promise<UIMessage | undefined> {
  const waits = (part: UIMessage['parts'][number]): boolean =>
    isToolPart(part) && isCall(part) && isWaiting(part);
  const ids = engine.graph().nodes.flatMap(({ id, role }) => (role === 'assistant' ? id : []));
  for (let end = ids.length; end > 0; end -= AT_ONCE) {
    const some = ids.slice(Math.max(0, end - AT_ONCE), end);
    const nodes = await engine.store.getNodes(engine.chatId, some);
    const found = nodes.findLast(({ data }) => data.parts.some(waits));
    if (found) return found.data;
  }
  return undefined;
}

/** How many answers are read at once. */
const AT_ONCE = 100;

/** What a tool gave, without what says whose it is. */
function resultOf({ tool: _tool, toolCallId: _id, options: _options, ...result }: Given): object {
  return { state: 'output-available', ...result };
}

function approvalOf({ id, approved, reason }: Given): object {
  return { state: 'approval-responded', approval: { id, approved, reason } };
}

import { convertToModelMessages, isToolUIPart, safeValidateUIMessages, type UIMessage } from 'ai';
import { ContextError } from '../errors.ts';
import { hasWords, isToolPart, type Part, type ToolPart } from './message.ts';
import { toSimpleMessages, type ModelPrompt, type Resolved, type ToPromptOptions } from './prompt.ts';

/**
 * The implementation of `toPrompt()`, loaded when a model is called: most pages leave that to a server. The store keeps an
 * answer as it was cut off: half a tool call, half a thought. Providers refuse most of it, so it is removed on the way out.
 */
export async function modelPrompt(resolved: Resolved, options: ToPromptOptions = {}): Promise<ModelPrompt> {
  // On a server, `resolved` is the body of a request.
  const { messages: given } = Object(resolved) as Partial<Resolved>;
  if (!Array.isArray(given) || !given.every(hasParts))
    throw new ContextError('invalid-messages', 'toPrompt() needs a list of messages, each with its parts.');
  const sendable = await toSendable(given);
  const spoken = sendable.filter(({ role }) => role !== 'system');
  const messages = await convertToModelMessages(spoken, { ...options, ignoreIncompleteToolCalls: true });
  const systems = toSimpleMessages(sendable.filter(({ role }) => role === 'system'));
  const said = [resolved.systemPrompt, ...systems.map(({ content }) => content)];
  const system = said.filter(Boolean).join('\n\n');
  return system ? { instructions: system, system, messages } : { messages };
}

function hasParts(message: unknown): message is UIMessage {
  const { parts } = Object(message) as Partial<UIMessage>;
  return Array.isArray(parts) && parts.every((part) => typeof Object(part).type === 'string');
}

/**
 * The messages without parts that providers refuse: empty texts, reasoning that broke off or led to nothing, tool calls without
 * a result, and parts that only a newer AI SDK knows. A message without remaining parts is left out.
 */
export async function toSendable<M extends UIMessage>(messages: readonly M[]): Promise<M[]> {
  const refused = new Set<Part>();
  for (const part of messages.flatMap(({ parts }) => parts.filter(isForeign)))
    if (!(await isKnown(part))) refused.add(part);
  const isSent = (part: Part, role: M['role']): boolean =>
    !refused.has(part) && (role !== 'assistant' || isSendable(part));
  const cleaned = (message: M): M => {
    const parts = withoutLooseThoughts(message.parts.filter((part) => isSent(part, message.role)));
    return parts.length === message.parts.length ? message : { ...message, parts };
  };
  return messages.map(cleaned).filter(hasWords);
}

/** Whether only some versions of the AI SDK know this kind of part. */
function isForeign({ type }: Part): boolean {
  return !/^(text|reasoning|file|step-start|source-(url|document)|dynamic-tool|(tool|data)-.*)$/.test(type);
}

/** Whether the installed AI SDK accepts a part, by its own validation. */
async function isKnown(part: Part): Promise<boolean> {
  const messages = [{ id: 'part', role: 'assistant', parts: [part] }];
  return (await safeValidateUIMessages({ messages })).success;
}

function isSendable(part: Part): boolean {
  if (part.type === 'text') return part.text !== '';
  if (part.type === 'reasoning') return part.state !== 'streaming';
  return !isToolPart(part) || (hasResult(part) && !part.preliminary);
}

/** The parts without reasoning that has neither text nor tool call behind it in its step. */
function withoutLooseThoughts(parts: readonly Part[]): Part[] {
  let isFollowed = false;
  return parts
    .toReversed()
    .filter((part) => {
      if (part.type === 'step-start') isFollowed = false;
      if (part.type === 'text' || part.type === 'file' || isToolPart(part)) isFollowed = true;
      return part.type !== 'reasoning' || isFollowed;
    })
    .toReversed();
}

/** Whether a tool call can be sent to a model. AI SDK 5 has no approvals, and would send a denied call without a result. */
function hasResult({ state }: ToolPart): boolean {
  if (/^output-(available|error)$/.test(state)) return true;
  const knowsApprovals = isToolUIPart({ type: 'dynamic-tool' } as Part);
  return knowsApprovals && /^(approval-responded|output-denied)$/.test(state);
}

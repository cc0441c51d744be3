import {
  convertToModelMessages,
  isToolUIPart,
  safeValidateUIMessages,
  type ModelMessage,
  type UIMessage,
} from 'ai';

/**
 * From what is stored to what a model may be sent.
 *
 * The store keeps an answer as it was when it was cut short: half a tool call, half a thought, an empty paragraph.
 * That is what the person saw, and it stays. A provider refuses most of it. So the cleaning happens here, on the way
 * out, and nothing that was cleaned is ever written back.
 */

/** What `engine.resolve()` gives, as far as a prompt needs it. */
export interface Resolved {
  /** The rendered fragments; '' where there are none. */
  readonly systemPrompt: string;
  /** The conversation, oldest first. */
  readonly messages: readonly UIMessage[];
}

/** How {@link toPrompt} converts: options of the AI SDK's `convertToModelMessages`. */
export type ToPromptOptions = Omit<
  NonNullable<Parameters<typeof convertToModelMessages>[1]>,
  'ignoreIncompleteToolCalls'
>;

/**
 * What `generateText` and `streamText` take: spread it into their options.
 * The prompt stands under both names that it has had, `system` (AI SDK 5 and 6) and `instructions` (7); under neither
 * when it is empty.
 */
export interface ModelPrompt {
  readonly instructions?: string;
  readonly system?: string;
  readonly messages: ModelMessage[];
}

/**
 * A model call's prompt from a resolved conversation, for AI SDK 5, 6 and 7: `streamText({ model, ...await
 * toPrompt(await engine.resolve()) })`. Messages with the role `system` join the system prompt, in order.
 */
export async function toPrompt(resolved: Resolved, options: ToPromptOptions = {}): Promise<ModelPrompt> {
  const sendable = await toSendable(resolved.messages);
  const spoken = sendable.filter(({ role }) => role !== 'system');
  const messages = await convertToModelMessages(spoken, { ...options, ignoreIncompleteToolCalls: true });
  const systems = sendable.filter(({ role }) => role === 'system').map(textIn);
  const system = [resolved.systemPrompt, ...systems].filter(Boolean).join('\n\n');
  return system ? { instructions: system, system, messages } : { messages };
}

/** A message as plain text. */
export interface SimpleMessage {
  readonly role: UIMessage['role'];
  /** The texts of the message, joined as they stand; '' for a message without text. */
  readonly content: string;
}

/** Messages as role and text, for models and formats that know no more than that. Oldest first, as given. */
export function toSimpleMessages(messages: readonly UIMessage[]): SimpleMessage[] {
  return messages.map((message) => ({ role: message.role, content: textIn(message) }));
}

function textIn(message: UIMessage): string {
  return message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/**
 * The messages without what a provider would refuse: empty texts, thoughts that broke off, tool calls without a
 * result, and parts that the installed AI SDK does not know, because a newer one wrote them. A message of which
 * nothing remains is left out; one with nothing to clean is the same object.
 */
export async function toSendable<M extends UIMessage>(messages: readonly M[]): Promise<M[]> {
  const refused = new Set<Part>();
  for (const part of messages.flatMap(({ parts }) => parts.filter(isForeign)))
    if (!(await isKnown(part))) refused.add(part);
  const isSent = (part: Part, role: M['role']): boolean =>
    !refused.has(part) && (role !== 'assistant' || isSendable(part));
  const cleaned = (message: M): M => {
    const parts = message.parts.filter((part) => isSent(part, message.role));
    return parts.length === message.parts.length ? message : { ...message, parts };
  };
  return messages.map(cleaned).filter(hasWords);
}

type Part = UIMessage['parts'][number];

/** Whether a part is of a kind that not every version of the AI SDK has. */
function isForeign({ type }: Part): boolean {
  return !/^(text|reasoning|file|step-start|source-(url|document)|dynamic-tool|(tool|data)-.*)$/.test(type);
}

/** Whether the installed AI SDK takes a part: it is the one to say. */
async function isKnown(part: Part): Promise<boolean> {
  const messages = [{ id: 'part', role: 'assistant', parts: [part] }];
  return (await safeValidateUIMessages({ messages })).success;
}

function isSendable(part: Part): boolean {
  if (part.type === 'text') return part.text !== '';
  if (part.type === 'reasoning') return part.state !== 'streaming';
  return !isToolPart(part) || (hasResult(part) && !part.preliminary);
}

/** Whether a model can be told of a call of a tool. AI SDK 5 has no approvals: it makes half a call of a denied one. */
function hasResult({ state }: ToolPart): boolean {
  if (/^output-(available|error)$/.test(state)) return true;
  const knowsApprovals = isToolUIPart({ type: 'dynamic-tool' } as Part);
  return knowsApprovals && /^(approval-responded|output-denied)$/.test(state);
}

/** A call of a tool, of whichever tool and version of the AI SDK. */
export interface ToolPart {
  readonly type: string;
  readonly toolCallId: string;
  readonly state: string;
  readonly preliminary?: boolean;
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

/** Whether a message says anything: more than the marks of its steps, and texts that have not begun. */
export function hasWords(message: UIMessage): boolean {
  return message.parts.some((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return part.text !== '';
    return part.type !== 'step-start';
  });
}

import { convertToModelMessages, type ModelMessage, type UIMessage } from 'ai';

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
  const sendable = toSendable(resolved.messages);
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
 * result. A message of which nothing remains is left out; one with nothing to clean is the same object.
 */
export function toSendable<M extends UIMessage>(messages: readonly M[]): M[] {
  return messages.map(cleaned).filter(hasWords);
}

function cleaned<M extends UIMessage>(message: M): M {
  if (message.role !== 'assistant' || message.parts.every(isSendable)) return message;
  return { ...message, parts: message.parts.filter(isSendable) };
}

type Part = UIMessage['parts'][number];

function isSendable(part: Part): boolean {
  if (part.type === 'text') return part.text !== '';
  if (part.type === 'reasoning') return part.state !== 'streaming';
  return !isToolPart(part) || (HAS_RESULT.test(part.state) && !part.preliminary);
}

/** The states of a tool call that a model can be told of. */
const HAS_RESULT = /^(output-|approval-responded)/;

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

/** Whether a message says anything: more than the marks of its steps, and texts that have not begun. */
export function hasWords(message: UIMessage): boolean {
  return message.parts.some((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return part.text !== '';
    return part.type !== 'step-start';
  });
}

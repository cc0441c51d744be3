import type { convertToModelMessages, ModelMessage, UIMessage } from 'ai';
import { refuseToLoad } from '../errors.ts';

/** The fields of `engine.resolve()` that a prompt needs. */
export interface Resolved {
  /** The rendered fragments. Default: no system prompt. */
  readonly systemPrompt?: string | undefined;
  /** The conversation, oldest first. */
  readonly messages: readonly UIMessage[];
}

/** Options of {@link toPrompt}: those of the AI SDK's `convertToModelMessages`. */
export type ToPromptOptions = Omit<
  NonNullable<Parameters<typeof convertToModelMessages>[1]>,
  'ignoreIncompleteToolCalls'
>;

/**
 * What `generateText` and `streamText` take: spread it into their options. The system prompt stands under both of its names,
 * `system` (AI SDK 5 and 6) and `instructions` (7); under neither when it is empty.
 */
export interface ModelPrompt {
  readonly instructions?: string;
  readonly system?: string;
  readonly messages: ModelMessage[];
}

/**
 * A model call's prompt from a resolved conversation, for AI SDK 5, 6 and 7: `streamText({ model, ...await
 * toPrompt(await engine.resolve()) })`. Messages with the role `system` join the system prompt, in order. Rejects with
 * `invalid-messages` for what is no list of messages, and with `store-unavailable` where its code could not be loaded.
 */
export async function toPrompt(resolved: Resolved, options?: ToPromptOptions): Promise<ModelPrompt> {
  const { modelPrompt } = await import('./modelPrompt.ts').catch(refuseToLoad);
  return modelPrompt(resolved, options);
}

/** A message as plain text. */
export interface SimpleMessage {
  readonly role: UIMessage['role'];
  /** The texts of the message, joined without a separator; '' for a message without text. */
  readonly content: string;
}

/** Messages as role and text, for models and formats that take no parts. Oldest first, as given. */
export function toSimpleMessages(messages: readonly UIMessage[]): SimpleMessage[] {
  return messages.map((message) => ({ role: message.role, content: textIn(message) }));
}

function textIn(message: UIMessage): string {
  return message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

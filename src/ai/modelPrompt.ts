import { convertToModelMessages, type UIMessage } from 'ai';
import { ContextError } from '../errors.ts';
import { textIn, type ModelPrompt, type Resolved, type ToPromptOptions } from './prompt.ts';
import { toSendable } from './sendable.ts';

/** The implementation of `toPrompt()`, loaded when a model is called: most pages leave that to a server. */
export async function modelPrompt(resolved: Resolved, options: ToPromptOptions = {}): Promise<ModelPrompt> {
  // On a server, `resolved` is the body of a request.
  const { messages: given } = Object(resolved) as Partial<Resolved>;
  if (!Array.isArray(given) || !given.every(hasParts))
    throw new ContextError('invalid-messages', 'toPrompt() needs a list of messages, each with its parts.');
  const sendable = await toSendable(given);
  const spoken = sendable.filter(({ role }) => role !== 'system');
  const messages = await convertToModelMessages(spoken, { ...options, ignoreIncompleteToolCalls: true });
  const systems = sendable.filter(({ role }) => role === 'system').map(textIn);
  const system = [resolved.systemPrompt, ...systems].filter(Boolean).join('\n\n');
  return system ? { instructions: system, system, messages } : { messages };
}

function hasParts(message: unknown): message is UIMessage {
  const { parts } = Object(message) as Partial<UIMessage>;
  return Array.isArray(parts) && parts.every((part) => typeof Object(part).type === 'string');
}

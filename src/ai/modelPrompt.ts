import { convertToModelMessages } from 'ai';
import { textIn, type ModelPrompt, type Resolved, type ToPromptOptions } from './prompt.ts';
import { toSendable } from './sendable.ts';

/** What `toPrompt()` gives: loaded when a model is called, because most pages leave that to a server. */
export async function modelPrompt(resolved: Resolved, options: ToPromptOptions = {}): Promise<ModelPrompt> {
  const sendable = await toSendable(resolved.messages);
  const spoken = sendable.filter(({ role }) => role !== 'system');
  const messages = await convertToModelMessages(spoken, { ...options, ignoreIncompleteToolCalls: true });
  const systems = sendable.filter(({ role }) => role === 'system').map(textIn);
  const system = [resolved.systemPrompt, ...systems].filter(Boolean).join('\n\n');
  return system ? { instructions: system, system, messages } : { messages };
}

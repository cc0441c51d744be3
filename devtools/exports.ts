import type { UIMessage } from 'ai';
import type { ContextEngine } from 'contextree';
import { partsOf } from './messageText.ts';
import { promptAt, systemOf } from './promptAt.ts';

// A message, or the chain up to it, in forms to paste elsewhere.

/** A message as Markdown, for an issue or a document. */
export function asMarkdown(message: UIMessage): string {
  const { role } = message;
  const written = partsOf(message).flatMap((part) => partAsMarkdown(part) ?? []);
  return [`**${role}**`, ...written].join('\n\n');
}

function partAsMarkdown(part: UIMessage['parts'][number]): string | undefined {
  switch (part.type) {
    case 'step-start':
      return undefined;
    case 'text':
      return part.text;
    case 'reasoning':
      return `> ${part.text.replaceAll('\n', '\n> ')}`;
    case 'source-url':
      return `[${part.title ?? part.url}](${part.url})`;
    // Not its bytes, which may be many megabytes in a `data:` address.
    case 'file':
      return `File: ${part.filename ?? part.mediaType}`;
    default:
      return fenced(JSON.stringify(part, null, 2));
  }
}

/** JSON behind a fence that is longer than any in it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}json\n${text}\n${fence}`;
}

/** The chain up to a message, as `UIMessage[]` in JSON: what `messages` of a chat can begin with. */
export async function chainAsJson(engine: ContextEngine, messageKey: string): Promise<string> {
  return JSON.stringify((await engine.resolve({ at: messageKey })).messages, null, 2);
}

/**
 * The call that would request this answer again, or an answer to this question, as a module for AI SDK 5, 6 and 7. It needs a
 * model and nothing of contextree.
 */
export async function asCall(engine: ContextEngine, messageKey: string): Promise<string> {
  const prompt = await promptAt({ engine, node: messageKey, isToday: true });
  const instructions = systemOf(prompt);
  const model = engine.calls(messageKey).findLast((call) => call.model)?.model ?? 'provider/model';
  const system = instructions && `\n  system: ${asTemplate(instructions)},`;
  return `import { convertToModelMessages, generateText } from 'ai';

const { text } = await generateText({
  model: ${JSON.stringify(model)},${system}
  messages: await convertToModelMessages(${indented(JSON.stringify(prompt.messages, null, 2))}),
});
`;
}

function asTemplate(text: string): string {
  return `\`${text.replaceAll(/[\\`]|\$\{/g, (sign) => `\\${sign}`)}\``;
}

function indented(text: string): string {
  return text.replaceAll('\n', '\n  ');
}

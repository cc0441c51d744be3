import type { UIMessage } from 'ai';
import type { MessageContent } from '../engine/engine.ts';

/** The text of a message replaced; its files and metadata stay. */
export function newWords(
  message: UIMessage | undefined,
  content: MessageContent,
): Pick<UIMessage, 'parts' | 'metadata'> {
  if (typeof content !== 'string') return content;
  const others = message?.parts.filter(({ type }) => type !== 'text') ?? [];
  return { parts: [...others, { type: 'text', text: content }], metadata: message?.metadata };
}

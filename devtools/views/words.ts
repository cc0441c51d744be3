import type { UIMessage } from 'ai';

/** The content of a message as text: its texts, and any other part as JSON. */
export function textOf({ parts }: UIMessage): string {
  return parts
    .flatMap((part) => {
      if (part.type === 'step-start') return [];
      return part.type === 'text' || part.type === 'reasoning' ? part.text : JSON.stringify(part, null, 2);
    })
    .join('\n\n');
}

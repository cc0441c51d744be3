import type { UIMessage } from 'ai';

/** The words of a message: its texts, and of any other part what it is, as JSON. */
export function textOf({ parts }: UIMessage): string {
  return parts
    .flatMap((part) => {
      if (part.type === 'step-start') return [];
      return part.type === 'text' || part.type === 'reasoning' ? part.text : JSON.stringify(part, null, 2);
    })
    .join('\n\n');
}

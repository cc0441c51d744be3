import type { UIMessage } from 'ai';

/** The texts of a message, as they stand. */
export function textOf(message: UIMessage): string {
  return partsOf(message)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');
}

/** The parts of a message, without those that a damaged disk or another program left: what is no object is none. */
export function partsOf({ parts }: UIMessage): UIMessage['parts'] {
  return parts.filter((part) => typeof part === 'object' && (part as object | null) !== null);
}

/** All that a message says, to be compared: its texts, and what is no text as JSON, without what a provider numbered. */
export function wordsOf(message: UIMessage): string {
  return partsOf(message)
    .flatMap((part) => {
      if (part.type === 'step-start') return [];
      return part.type === 'text' ? part.text : JSON.stringify(part, withoutNumbers, 2);
    })
    .join('\n');
}

function withoutNumbers(field: string, value: unknown): unknown {
  return field === 'toolCallId' || field.endsWith('roviderMetadata') ? undefined : value;
}

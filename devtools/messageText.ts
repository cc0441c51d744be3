import type { UIMessage } from 'ai';

/** The texts of a message, unchanged. */
export function textOf(message: UIMessage): string {
  return partsOf(message)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('');
}

/** The content of a message for comparisons: its texts, and other parts as JSON, without ids of providers. */
export function allOf(message: UIMessage): string {
  return partsOf(message)
    .flatMap((part) => {
      if (part.type === 'step-start') return [];
      return part.type === 'text' || part.type === 'reasoning'
        ? part.text
        : JSON.stringify(part, withoutNumbers, 2);
    })
    .join('\n\n');
}

/** The parts of a message, without values that are no objects, from a damaged disk or another program. */
export function partsOf({ parts }: UIMessage): UIMessage['parts'] {
  return parts.filter((part) => typeof part === 'object' && (part as object | null) !== null);
}

function withoutNumbers(field: string, value: unknown): unknown {
  return field === 'toolCallId' || field.endsWith('roviderMetadata') ? undefined : value;
}

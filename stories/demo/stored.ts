import type { UIMessage } from 'ai';

/**
 * Reading stored messages, whatever wrote them: a part may be any value. Questions about a whole message (its text, whether it
 * has content, its files) are asked here and answered for any part, so that a part that can't be shown costs only that part.
 */

type Part = UIMessage['parts'][number];

/** The parts of a message that are parts at all: objects of some type. */
export function partsOf({ parts }: UIMessage): readonly Part[] {
  return parts.filter((part: unknown) => typeof stringIn(part, 'type') === 'string');
}

/** The text of a part of words or thoughts; empty for every other one. */
export function wordsOf(part: Part): string {
  return part.type === 'text' || part.type === 'reasoning' ? (stringIn(part, 'text') ?? '') : '';
}

/** What a file is called: its name, else its kind. */
export function fileName(part: Part): string {
  return stringIn(part, 'filename') ?? stringIn(part, 'mediaType') ?? 'A file';
}

/** Where a file is; undefined where nothing says so. */
export function fileAddress(part: Part): string | undefined {
  return stringIn(part, 'url');
}

/** A field of something stored, where it is a string. */
function stringIn(value: unknown, key: string): string | undefined {
  const field = (Object(value) as Readonly<Record<string, unknown>>)[key];
  return typeof field === 'string' ? field : undefined;
}

/** The text of a message, paragraphs apart: what is copied and edited. */
export function plainText(message: UIMessage): string {
  return partsOf(message)
    .filter(({ type }) => type === 'text')
    .map(wordsOf)
    .join('\n\n');
}

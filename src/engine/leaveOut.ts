import type { UIMessage } from 'ai';
import type { StoreOp } from '../store/store.ts';

/** Files of so many characters and more are left out, and of new messages whatever else is as large as this. */
const LARGE_FILE = 4096;
const LARGE = 65_536;

/**
 * A write that a disk has no room for, in two: the same without what is large in it, and the whole messages, to be
 * written over the light ones when there is room. A text tells what is missing, for whoever meets the message before.
 *
 * An answer that is saved loses its files only: drafts of its words may be on the disk, and the light version would
 * take their place. One that grows stays as it is.
 */
export function leaveOut(ops: readonly StoreOp[]): {
  readonly light: readonly StoreOp[];
  readonly owed: readonly Owed[];
} {
  const owed: Owed[] = [];
  const light = ops.map((op): StoreOp => {
    if ((op.op !== 'insert' && op.op !== 'replace') || op.status === 'streaming' || !op.data) return op;
    const data = lightOf(op.data, op.op === 'insert');
    if (data === op.data) return op;
    owed.push({ op: 'replace', id: op.id, data: op.data });
    return { ...op, data };
  });
  return { light, owed };
}

/** The whole words of a message that was written without what is large in it. */
export type Owed = Extract<StoreOp, { readonly op: 'replace' }>;

type Part = UIMessage['parts'][number];

function lightOf(message: UIMessage, isNew: boolean): UIMessage {
  const isHeavy = (part: Part): boolean =>
    isLargeFile(part) || (isNew && JSON.stringify(part).length >= LARGE);
  if (!message.parts.some(isHeavy)) return message;
  return { ...message, parts: message.parts.map((part) => (isHeavy(part) ? noteOf(part) : part)) };
}

function isLargeFile(part: Part): boolean {
  return isFile(part) && part.url.length >= LARGE_FILE;
}

function isFile(part: Part): part is Extract<Part, { readonly type: 'file' }> {
  return (part.type === 'file' || part.type === 'reasoning-file') && typeof part.url === 'string';
}

function noteOf(part: Part): Part {
  return { type: 'text', text: `[${nameOf(part)} was not saved: there was no room for it.]` };
}

function nameOf(part: Part): string {
  if (part.type === 'text') return `A text of ${part.text.length} characters`;
  if (!isFile(part)) return `A part of type ${part.type}`;
  return `The file ${part.filename === undefined ? part.mediaType : `"${part.filename}" (${part.mediaType})`}`;
}

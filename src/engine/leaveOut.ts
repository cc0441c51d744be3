import type { UIMessage } from 'ai';
import type { OpNamed, StoreOp } from '../store/store.ts';

/** Files of so many characters and more are left out, and whatever else is as large as this. */
const LARGE_FILE = 4096;
const LARGE = 65_536;

/**
 * A write that a disk has no room for, in two: the same without what is large in it, and the whole messages, to be
 * written over the light ones when there is room. A text tells what is missing, for whoever meets the message before.
 *
 * Of an answer that ends, or of a message that is changed, the disk may have a part already: its last draft, or what it
 * said before. That stays, where more than files is too large. An answer that begins to grow is written as it is.
 */
export function leaveOut(ops: readonly StoreOp[]): {
  readonly light: readonly StoreOp[];
  readonly owed: readonly Owed[];
} {
  const owed: Owed[] = [];
  const light = ops.map((op): StoreOp => {
    if ((op.op !== 'insert' && op.op !== 'replace') || op.status === 'streaming' || !op.data) return op;
    const lighter = op.op === 'insert' ? { ...op, data: without(op.data, isLarge) } : lighterChange(op);
    if (lighter.data === op.data) return op;
    owed.push({ op: 'replace', id: op.id, data: op.data });
    return lighter;
  });
  return { light, owed };
}

function lighterChange({ data, ...op }: Owed): Owed {
  const light = data && without(data, isLargeFile);
  return !light || light.parts.some(isLarge) ? op : { ...op, data: light };
}

/** The whole words of a message that was written without what is large in it. */
export type Owed = OpNamed<'replace'>;

type Part = UIMessage['parts'][number];

/** A message with texts in the place of some of its parts; the same one where it has no such part. */
function without(message: UIMessage, isLeftOut: (part: Part) => boolean): UIMessage {
  if (!message.parts.some(isLeftOut)) return message;
  return { ...message, parts: message.parts.map((part) => (isLeftOut(part) ? noteOf(part) : part)) };
}

function isLarge(part: Part): boolean {
  return isLargeFile(part) || JSON.stringify(part).length >= LARGE;
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

import type { UIMessage } from 'ai';

/**
 * Messages as JSON, made once for each write.
 *
 * On its way to the disk a message is text three times: where it is cut loose from the caller's object, where its sum
 * is taken, and where it is packed. For ten thousand messages of an import that is a fifth of the time. The text is the
 * same each time, because what was read from JSON is written as the same JSON. It is remembered as long as the write
 * lasts and no longer: a message may be shown for hours, and its text would be as large again.
 */
const texts = new WeakMap<object, string>();

/** Remembers the text that a message was read from. */
export function rememberText(message: UIMessage, text: string): void {
  texts.set(message, text);
}

/** A message, or whatever else, as JSON. */
export function textOf(row: object): string {
  return texts.get(row) ?? JSON.stringify(row);
}

/** Forgets the text of a message that has been written. */
export function forgetText(message: UIMessage): void {
  texts.delete(message);
}

/**
 * JSON whose characters take a byte each, where that makes it shorter.
 *
 * Browsers keep a text either in one byte a character or in two, and it is two for all as soon as one is not among the
 * first 256. One emoji, one dash or one curly quote among sixty-four messages would so double what is written and read.
 * Escaped, such a character takes six bytes and reads as the same. Where they are many, as in Chinese, all stays as it
 * is.
 */
export function narrowed(json: string): string {
  if (!WIDE.test(json)) return json;
  const wide = json.length - json.replaceAll(ALL_WIDE, '').length;
  return wide * 5 < json.length ? json.replaceAll(ALL_WIDE, escaped) : json;
}

const WIDE = /[\u0100-\uffff]/;
const ALL_WIDE = /[\u0100-\uffff]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

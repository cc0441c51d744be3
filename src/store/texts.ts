import type { UIMessage } from 'ai';

/**
 * Messages as JSON, made once for each write.
 *
 * On its way to the disk a message is text twice: where its sum is taken, and where it is put or packed. In between it is
 * remembered, and no longer than the write lasts: a message may be shown for hours, and its text would be as large again.
 */
const texts = new Map<object, string>();

/** A message as JSON, which is remembered for {@link textOf}. */
export function rememberText(message: UIMessage): string {
  const text = textOf(message);
  texts.set(message, text);
  return text;
}

/** A message, or whatever else, as JSON. */
export function textOf(row: object): string {
  return texts.get(row) ?? JSON.stringify(row);
}

/** A message as JSON, for the last time in this write. */
export function takeText(row: object): string {
  const text = textOf(row);
  texts.delete(row);
  return text;
}

/** Forgets the texts of what has been written. Whoever writes at the same time makes those that it lacks once more. */
export function forgetTexts(): void {
  texts.clear();
}

/**
 * The parts of a JSON text in one, whose characters take a byte each where that makes it shorter.
 *
 * Browsers keep a text either in one byte a character or in two, and it is two for all as soon as one is not among the
 * first 256. One emoji, one dash or one curly quote among sixty-four messages would so double what is written and read.
 * Escaped, such a character takes six bytes and reads as the same. Where they are many, as in Chinese, all stays as it
 * is. A part that has none costs nothing, whatever the others hold.
 */
export function narrowed(parts: readonly string[], between: string = ''): string {
  const text = parts.join(between);
  return WIDE.test(text) && wideIn(text) * 5 < text.length ? parts.map(narrow).join(between) : text;
}

/** That a text has no such character is told by how it is kept, without a look at it. */
const WIDE = /[\u0100-\uffff]/;
const ALL_WIDE = /[\u0100-\uffff]/g;

/** How many wide characters there are. */
function wideIn(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) > 0xff) count += 1;
  return count;
}

/** What is made of a text that took two bytes a character still takes two, whatever is in it. JSON makes it anew, in one. */
function narrow(text: string): string {
  return WIDE.test(text) ? (JSON.parse(JSON.stringify(text.replaceAll(ALL_WIDE, escaped))) as string) : text;
}

/**
 * A row of a database, in texts that take a byte a character where they can. One that was cut out of a wide text is written
 * as wide as that, and read so again; and Chromium makes JSON of it that takes two bytes a character, whatever is in it.
 */
export function remade<Row>(row: Row): Row {
  return JSON.parse(JSON.stringify(row)) as Row;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

import type { UIMessage } from 'ai';

/**
 * Messages as JSON, made once for each write.
 *
 * On its way to the disk a message is text three times: where it is cut loose from the caller's object, where its sum is
 * taken, and where it is packed. For ten thousand messages of an import that is a fifth of the time. The text is the same
 * each time, because what was read from JSON is written as the same JSON. It is remembered as long as the write lasts and
 * no longer: a message may be shown for hours, and its text would be as large again.
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

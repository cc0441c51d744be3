/**
 * A short sum of some text: the same for the same text, another one for nearly every other (FNV-1a, 32 bits).
 *
 * It tells a text that the disk has changed from the one that was written: about a nanosecond a character, no more than
 * a sealed block can bear. It does not tell texts of different origin apart; that takes a hash as long as a name.
 *
 * `sum` is that of what comes before the text: two texts one behind the other need not be joined to be summed.
 */
export function sumOf(text: string, sum: number = 0x811c9dc5): number {
  // A small integer from the first step on: engines that meet a large one there treat every step as a fraction.
  let next = sum | 0;
  for (let i = 0; i < text.length; i += 1) next = Math.imul(next ^ text.charCodeAt(i), 0x01000193);
  return next >>> 0;
}

/**
 * The sum of a body's JSON, with its length: eleven characters and more. Browsers enter shorter texts in a table as they
 * parse them, which takes longer than to read the graph that they are in.
 */
export function bodySum(json: string): string {
  return digitsOf(sumOf(json), 7) + digitsOf(json.length, 4);
}

/** A number to base 36, with so many digits at least: two at a time, several times as fast as `toString`. */
function digitsOf(number: number, least: number): string {
  let text = '';
  for (let rest = number; rest > 0 || text.length < least; rest = Math.floor(rest / PAIR))
    text = pairOf(rest % PAIR) + text;
  return text.length > least && text.startsWith('0') ? text.slice(1) : text;
}

const PAIR = 36 * 36;
const pairs: string[] = [];

function pairOf(number: number): string {
  return (pairs[number] ??= number.toString(36).padStart(2, '0'));
}

/** Whether a body's JSON has this sum, which is no text where a disk made something else of it. Older sums lack the length. */
export function hasSum(json: string, sum: unknown): boolean {
  return sum === (String(sum).length > 7 ? bodySum(json) : sumOf(json).toString(36));
}

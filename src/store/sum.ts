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
 * The sum of a body's JSON, with the last bits of its length: six characters, because a block has sixty-four of them and
 * each takes its time to be read.
 */
export function bodySum(json: string): string {
  const sum = sumOf(json);
  return pairOf(sum >>> 20) + pairOf((sum >>> 8) & 0xfff) + pairOf(((sum & 0xff) << 4) | (json.length & 15));
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const pairs: string[] = [];

/** Twelve bits as two characters. */
function pairOf(bits: number): string {
  return (pairs[bits] ??= DIGITS.charAt(bits >> 6) + DIGITS.charAt(bits & 63));
}

/** Whether a body's JSON has this sum, which is no text where a disk made something else of it. */
export function hasSum(json: string, sum: unknown): boolean {
  return sum === bodySum(json) || olderSums(json).includes(sum as string);
}

/** To base 36: at first alone, later with the length behind it. */
function olderSums(json: string): string[] {
  const sum = sumOf(json).toString(36);
  return [sum, sum.padStart(7, '0') + json.length.toString(36).padStart(4, '0')];
}

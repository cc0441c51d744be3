/**
 * A short sum of some text: the same for the same text, another one for nearly every other (FNV-1a, 32 bits).
 *
 * It tells a text that the disk has changed from the one that was written: about a nanosecond a character, no more than
 * a sealed block can bear. It does not tell texts of different origin apart; that takes a hash as long as a name.
 */
export function sumOf(text: string): number {
  let sum = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193);
  return sum >>> 0;
}

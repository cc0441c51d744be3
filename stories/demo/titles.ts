import type { UIMessage } from 'ai';
import { fileName, partsOf, plainText } from './stored.ts';

const LONGEST = 60;

/** What a chat is called when nobody and nothing named it. */
export const UNTITLED = 'Untitled';

/**
 * A title made of a chat's first question: its first line with words, cut between words. One without words is called
 * like its first file.
 */
export function titleFrom(question: UIMessage): string | undefined {
  const file = partsOf(question).find(({ type }) => type === 'file');
  const words = plainText(question).trim() || (file ? fileName(file) : '');
  // Enough to cut from: a book may be one line.
  const line = words.slice(0, 1000).split('\n', 1)[0]?.replaceAll(/\s+/g, ' ') ?? '';
  return line === '' ? undefined : cutBetweenWords(calm(line), LONGEST);
}

/**
 * A name as it may stand in a sentence of ours: without the marks that turn the direction of what follows, which is
 * ours, and with no more marks on a letter than any writing has.
 */
export function calm(name: string): string {
  return name.replaceAll(/[\u202A-\u202E\u2066-\u2069]/g, '').replaceAll(/(\p{M}{4})\p{M}+/gu, '$1');
}

/** A line of at most so many code units, cut between two words where it is longer. */
export function cutBetweenWords(line: string, longest: number): string {
  if (line.length <= longest) return line;
  const cut = withinLength(line, longest);
  const space = cut.lastIndexOf(' ');
  return `${(space > longest / 2 ? cut.slice(0, space) : cut).replace(/[\s.,;:!?-]+$/, '')}…`;
}

/** The beginning of a line, at most so many code units, and no sign cut in two: an emoji may be several. */
function withinLength(line: string, longest: number): string {
  // A browser takes a tenth of a second to learn where signs end; in plain text each letter is one.
  if (/^[ -~]*$/.test(line.slice(0, longest + 1))) return line.slice(0, longest);
  let length = 0;
  for (const { index, segment } of new Intl.Segmenter().segment(line)) {
    if (index + segment.length > longest) break;
    length = index + segment.length;
  }
  return line.slice(0, length);
}

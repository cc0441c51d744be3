import type { UIMessage } from 'ai';

const LONGEST = 60;

/** What a chat is called when nobody and nothing named it. */
export const UNTITLED = 'Untitled';

/**
 * A title made of a chat's first question: its first line with words, cut between words. One without words is called
 * like its first file.
 */
export function titleFrom(question: UIMessage): string | undefined {
  const text = question.parts.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
  const file = question.parts.find((part) => part.type === 'file')?.filename ?? '';
  const line = (text.trim() || file).split('\n', 1)[0]?.replaceAll(/\s+/g, ' ') ?? '';
  return line === '' ? undefined : cutBetweenWords(line);
}

function cutBetweenWords(line: string): string {
  if (line.length <= LONGEST) return line;
  const cut = withinLength(line);
  const space = cut.lastIndexOf(' ');
  return `${(space > LONGEST / 2 ? cut.slice(0, space) : cut).replace(/[\s.,;:!?-]+$/, '')}…`;
}

/** The beginning of a line, at most {@link LONGEST} code units, and no sign cut in two: an emoji may be several. */
function withinLength(line: string): string {
  let length = 0;
  for (const { index, segment } of new Intl.Segmenter().segment(line)) {
    if (index + segment.length > LONGEST) break;
    length = index + segment.length;
  }
  return line.slice(0, length);
}

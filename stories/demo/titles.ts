import type { UIMessage } from 'ai';

const LONGEST = 60;

/** What a chat is called when nobody and nothing named it. */
export const UNTITLED = 'Untitled';

/** A title made of a chat's first question: its first line with words, cut between words. */
export function titleFrom(question: UIMessage): string | undefined {
  const text = question.parts.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
  const line = text.trim().split('\n', 1)[0]?.replaceAll(/\s+/g, ' ') ?? '';
  return line === '' ? undefined : cutBetweenWords(line);
}

function cutBetweenWords(line: string): string {
  if (line.length <= LONGEST) return line;
  const cut = line.slice(0, LONGEST);
  const space = cut.lastIndexOf(' ');
  return `${(space > LONGEST / 2 ? cut.slice(0, space) : cut).replace(/[\s.,;:!?-]+$/, '')}…`;
}

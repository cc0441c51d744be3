/**
 * The beginning of a message on one line: an answer without its Markdown, of which the end may be cut off. A person's message
 * is not Markdown, and stays as it is.
 */
export function plainLine(role: string, text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return role === 'assistant'
    ? line
        .replace(/^[-*+>] /, '')
        .replace(MARKS, '$1$2')
        .trim()
    : line;
}

/**
 * An escaped character, which stays; a link or a picture, whose text stays; a fence; bold, struck-through and code; a heading;
 * emphasis next to its words.
 */
const MARKS =
  /\\([!-/:-@[-`{-~])|!?\[([^\]]*)\]\([^)\s]*\)?|```\w* ?|\*\*|~~|`|(?<!\w)__|__(?!\w)|(?:^#{1,6}|(?<= )#{2,6}) (?=\S)|(?<![\w*])[*_](?=\S)|(?<=\S)[*_](?![\w*])/g;

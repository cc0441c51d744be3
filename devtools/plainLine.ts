/**
 * The beginning of a message on one line: an answer without its Markdown, of which the end may be cut off. A person's message
 * is not Markdown, and stays as it is. What would turn the line around is escaped.
 */
export function plainLine(role: string, text: string): string {
  const line = escaped(text.replaceAll(/\s+/g, ' ').trim());
  return role === 'assistant'
    ? line
        .replace(/^[-*+>] /, '')
        .replace(MARKS, '$1$2')
        .trim()
    : line;
}

/**
 * A text in which some characters are escaped: `\u{202e}`. Without `which`, those that turn the order of the others around:
 * embeddings, overrides and isolates.
 */
export function escaped(text: string, which: RegExp = TURNING): string {
  return text.replace(which, (found) => `\\u{${found.codePointAt(0)?.toString(16)}}`);
}

const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

/**
 * An escaped character, which stays; a link or a picture, whose text stays; a fence; bold, struck-through and code; a heading;
 * emphasis next to its words.
 */
const MARKS =
  /\\([!-/:-@[-`{-~])|!?\[([^\]]*)\]\([^)\s]*\)?|```\w* ?|\*\*|~~|`|(?<!\w)__|__(?!\w)|(?:^#{1,6}|(?<= )#{2,6}) (?=\S)|(?<![\w*])[*_](?=\S)|(?<=\S)[*_](?![\w*])/g;

/**
 * The beginning of a message on one line, as a person would read it: an answer without the marks of its Markdown, of
 * which the end may be cut off. What a person wrote is not Markdown, and stands as it was written.
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
 * An escaped sign, which stays; a link or a picture, of which the words stay; a fence; strong, struck and code; a
 * heading; emphasis, which hugs its words.
 */
const MARKS =
  /\\([!-/:-@[-`{-~])|!?\[([^\]]*)\]\([^)\s]*\)?|```\w* ?|\*\*|~~|`|(?<!\w)__|__(?!\w)|(?:^#{1,6}|(?<= )#{2,6}) (?=\S)|(?<![\w*])[*_](?=\S)|(?<=\S)[*_](?![\w*])/g;

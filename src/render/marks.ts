/**
 * Text that stays in its place in Markdown.
 *
 * Markdown has no wall around a text: a line that begins with `## ` is a heading, whoever wrote it, dashes below a line
 * make a heading of it, and a code fence or an HTML comment that stays open swallows the rest of the prompt. All of them
 * begin a line (perhaps behind list and quote marks), so it is enough to look there, and to put a backslash before the
 * mark. Complete code blocks are left alone: prompts are full of them, and a comment in Python is no heading.
 *
 * A code block counts as complete only where every reader must agree on its end: the closing fence stands in the column
 * of the opening one and nothing between leaves that column. Anything else is escaped, at the cost of a backslash.
 */

/** The lines of a text, safe at the beginning of a block and below it. */
export function guardedLines(text: string): string[] {
  if (!SUSPECT.test(text)) return [text];
  const lines = text.replace(/\r\n?/g, '\n').replace(UNPRINTABLE, '\ufffd').split('\n');
  let html = false;
  let next = 0;
  return lines.map((line, i) => {
    if (i < next) return line;
    html = line.trim() !== '' && (html || HTML.test(line));
    const end = html ? -1 : endOfCode(lines, i);
    next = end + 1;
    return end > i ? line : line.replace(OPENER, '$1\\');
  });
}

/** A name on a line: one line, and no mark that would end or nest it. */
export function inlineText(text: string): string {
  if (/^\w+$/.test(text)) return text;
  return text
    .replace(UNPRINTABLE, '\ufffd')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[\\*`<[\]]|^#|(?<= )#/g, '\\$&');
}

/** `styleGuide` -> `Style Guide`; a name without letters stays. */
export function titleOf(name: string): string {
  const words = /^[a-z]+$/.test(name) ? [name] : wordsOf(name);
  return words.map((word) => (SMALL.test(word) ? word : word.replace(/^./u, upper))).join(' ') || name;
}

function wordsOf(name: string): string[] {
  const spaced = name.replace(/([\p{Ll}\d])(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1$2 ');
  return spaced
    .toLowerCase()
    .split(/[\s_.-]+/)
    .filter(Boolean);
}

function upper(text: string): string {
  return text.toUpperCase();
}

const SMALL = /^(?:a|the|of|and|or|for|but)$/;

const UNPRINTABLE = /[\0-\x08\v\f\x0e-\x1f]/g;

/** What every text has that is more than a line of words. */
const SUSPECT = /[\0-\x1f#=`~<]|-\s*$/;

/** Where list and quote marks may stand before the mark that counts. */
const BEFORE = String.raw`^((?:[ \t]*(?:[-+*>]|\d{1,9}[.)]))*[ \t]*)`;

/** What opens a heading (also from below its text), a code block, or HTML that runs on over blank lines. */
const OPENER = new RegExp(
  String.raw`${BEFORE}(?=#{1,6}(?:[ \t]|$)|=+[ \t]*$|-+[ \t]*$|\x60{3}|~{3}|<(?:[!?]|script|pre|style|textarea))`,
  'i',
);

/** HTML that runs to the next blank line; fences in it are not fences. */
const HTML = new RegExp(`${BEFORE}<[a-z/]`, 'i');

const FENCE = /^( *)(`{3,}(?!.*`)|~{3,})/;

/** The line on which the code block that opens on a line surely ends; -1 where none opens, or none surely ends. */
function endOfCode(lines: readonly string[], start: number): number {
  const [, indent = '', fence = ''] = FENCE.exec(lines[start] ?? '') ?? [];
  if (fence === '') return -1;
  for (let i = start + 1; i < lines.length; i++) {
    const line = lines[i] ?? '';
    if (line.trim() === '') continue;
    if (!line.startsWith(indent)) return -1;
    const rest = line.slice(indent.length);
    if (/^ *(?:`{3,}|~{3,})[ \t]*$/.test(rest) && rest.trim().startsWith(fence))
      return rest.startsWith(fence) ? i : -1;
  }
  return -1;
}

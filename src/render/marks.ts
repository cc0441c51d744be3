import { printable } from './renderer.ts';

/**
 * Text that stays in its place in Markdown.
 *
 * What opens a heading, a code block, a comment or a link's address begins a line (perhaps behind list and quote marks), in the
 * text of a fragment too: there a backslash is put before the mark. Complete code blocks are left alone, up to the first one
 * that is not.
 */

/** A text that is safe at the beginning of a block and below it; each line feed becomes `below`, with the indent of the block. */
export function guarded(text: string, below = '\n'): string {
  const safe = escaped(text.replace(/\r\n?/g, '\n'));
  return below === '\n' ? safe : safe.replace(/\n/g, below);
}

/** A backslash before each mark at the beginning of a line that would open something. */
function escaped(text: string): string {
  let safe = '';
  let done = 0;
  let code = 0;
  let isHtml = false;
  let isMissing = false;
  for (const { index, 0: found, groups } of text.matchAll(MARKS)) {
    const at = index + found.length;
    if (index < code) continue;
    isHtml = groups?.['blank'] === undefined && (isHtml || /^<[a-z/]/i.test(text.slice(at, at + 2)));
    if (groups?.['opens'] === undefined) continue;
    if (!isHtml && !isMissing && /^ *$/.test(found) && /[`~]/.test(text.charAt(at))) {
      CODE.lastIndex = index;
      isMissing = !CODE.test(text);
      code = CODE.lastIndex;
      if (!isMissing) continue;
    }
    safe += `${text.slice(done, at)}\\`;
    done = at;
  }
  return safe + text.slice(done);
}

/** A name on a line: one line, and no mark that would end or nest it. */
export function inlineText(text: string): string {
  if (/^\w+$/.test(text)) return text;
  return printable(text)
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[\\*`<[\]]|^#|(?<= )#/g, '\\$&');
}

/** `styleGuide` -> `Style Guide`; a name without letters stays. */
export function titleOf(name: string): string {
  return wordsOf(name).map(capital).join(' ') || name;
}

function wordsOf(name: string): string[] {
  const words = /^[a-z\d_]*$/.test(name) ? name : name.replace(BETWEEN, '$1$2 ').toLowerCase();
  return words.split(/[\s_.-]+/).filter(Boolean);
}

const BETWEEN = /([\p{Ll}\d])(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu;

function capital(word: string): string {
  const [first = ''] = word;
  return SMALL.has(word) ? word : first.toUpperCase() + word.slice(first.length);
}

const SMALL = new Set(['a', 'the', 'of', 'and', 'or', 'for', 'but']);

/** Calls the source, so that a bundler can see that nothing happens where Markdown is not used. */
function pattern(source: () => string, flags: string): RegExp {
  return new RegExp(source(), flags);
}

/** The end of a line in Markdown. `.` and `$` would also end a line at U+2028. */
const END = '(?![^\\n])';

/**
 * A blank line, which ends HTML; or what may stand before a mark, list and quote marks, where the mark opens a heading (also
 * from below its text), a code block, HTML that runs on over blank lines, a link's address, which counts in the whole document;
 * or HTML that runs to the next blank line: fences in it are not fences.
 */
const MARKS = /* @__PURE__ */ pattern(
  () =>
    String.raw`(?<![^\n])(?:(?<blank>[ \t]*${END})|(?:[ \t]*(?:[-+*>]|\d{1,9}[.)]))*[ \t]*(?:(?<opens>(?=#{1,6}(?:[ \t]|${END})|=+[ \t]*${END}|(?<!-)-+[ \t]*${END}|\x60{3}|~{3}|<(?:[!?]|script|pre|style|textarea)|\[(?:[^[\]\\]|\\[^])+]:))|(?=<[a-z/])))`,
  'gi',
);

/** The line that closes a code block, behind its indent. */
const CLOSE = String.raw`\2(?:(?<=\x60)\x60*|(?<=~)~*)[ \t]*${END}`;

/** A code block whose closing fence stands in the column of the opening one, with nothing between that leaves it. */
const CODE = /* @__PURE__ */ pattern(
  () =>
    String.raw`( *)(\x60{3,}(?!\x60|[^\n]*\x60)|~{3,}(?!~))[^\n]*\n(?:(?:\1(?![ \t]*\n| *${CLOSE})[^\n]*|[ \t]*)\n)*\1${CLOSE}`,
  'y',
);

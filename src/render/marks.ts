import { printable } from './renderer.ts';

/**
 * Text that stays in its place in Markdown.
 *
 * What opens a heading, a code block, a comment or a link's address begins a line (perhaps behind list and quote marks), in the
 * text of a fragment too: there a backslash is put before the mark. Complete code blocks are left alone: those whose closing
 * fence stands in the column of the opening one with nothing between that leaves it.
 */

/**
 * A text that is safe at the beginning of a block and below it; each line feed becomes `below`, the indent of the block with
 * it.
 */
export function guarded(text: string, below = '\n'): string {
  if (isWord(text.charCodeAt(0)) && !/[\n\r]/.test(text)) return text;
  const safe = escapedLines(text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text);
  return below === '\n' ? safe : safe.replace(/\n/g, below);
}

/** A backslash before each mark at the beginning of a line that would open something. */
function escapedLines(text: string): string {
  const look = { left: PATIENCE * text.length };
  let out = '';
  let done = 0;
  let html = false;
  for (let line = 0; line <= text.length; line = endOfLine(text, line) + 1) {
    const first = text.charCodeAt(line);
    if (isWord(first)) continue;
    if (html && isAt(BLANK, text, line)) html = false;
    if (first === LINE_FEED) continue;
    const mark = text.charCodeAt(afterMarks(text, line));
    if (isWord(mark)) continue;
    html ||= mark === LESS && isAt(HTML, text, line);
    if (!isAt(OPENER, text, line)) continue;
    const at = OPENER.lastIndex;
    const code = html ? -1 : endOfCode(text, line, look);
    if (code >= 0) line = code;
    else {
      out += `${text.slice(done, at)}\\`;
      done = at;
    }
  }
  return out + text.slice(done);
}

/** Where the list and quote marks that a line begins with are over. */
function afterMarks(text: string, line: number): number {
  BEFORE.lastIndex = line;
  BEFORE.test(text);
  return BEFORE.lastIndex;
}

/** Letters and all else that is beyond the marks `# - > <`, and neither a bracket nor a backtick nor a tilde. */
function isWord(code: number): boolean {
  return code > 62 && code !== BRACKET && code !== BACKTICK && code !== TILDE;
}

const LINE_FEED = 10;
const SPACE = 32;
const LESS = 60;
const BRACKET = 91;
const BACKTICK = 96;
const TILDE = 126;

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

function isAt(sticky: RegExp, text: string, at: number): boolean {
  sticky.lastIndex = at;
  return sticky.test(text);
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

/** The end of a line in Markdown. `.` and `$` would also end a line at U+2028. */
const END = '(?![^\\n])';

/** Calls the source, so that a bundler can see that nothing happens where Markdown is not used. */
function pattern(source: () => string, flags: string): RegExp {
  return new RegExp(source(), flags);
}

/** Where list and quote marks may stand before the mark that counts. */
const BEFORE = /(?:[ \t]*(?:[-+*>]|\d{1,9}[.)]))*[ \t]*/y;

/**
 * Before what opens a heading (also from below its text), a code block, or HTML that runs on over blank lines, and
 * before a link's address, which counts in the whole document.
 */
const OPENER = /* @__PURE__ */ pattern(
  () =>
    String.raw`${BEFORE.source}(?=#{1,6}(?:[ \t]|${END})|=+[ \t]*${END}|(?<!-)-+[ \t]*${END}|\x60{3}|~{3}|<(?:[!?]|script|pre|style|textarea)|\[(?:[^[\]\\]|\\[^])+]:)`,
  'iy',
);

/** HTML that runs to the next blank line; fences in it are not fences. */
const HTML = /* @__PURE__ */ pattern(() => `${BEFORE.source}<[a-z/]`, 'iy');

/** A blank line: Markdown allows only spaces and tabs in it. */
const BLANK = /* @__PURE__ */ pattern(() => `[ \\t]*${END}`, 'y');

const FENCE = /( *)(`{3,}(?![^\n]*`)|~{3,})/y;

/** What a line after the indent must be to close a code block. */
const CLOSE = /* @__PURE__ */ pattern(() => ` *(\`{3,}|~{3,})[ \\t]*${END}`, 'y');

/** How many times the length of a text may be searched for missing ends of code blocks: more would take quadratic time. */
const PATIENCE = 8;

/** Where the last line of the code block that opens on a line begins; -1 where none opens, or none surely ends. */
function endOfCode(text: string, start: number, look: { left: number }): number {
  FENCE.lastIndex = start;
  const [, indent = '', fence = ''] = FENCE.exec(text) ?? [];
  if (fence === '' || look.left < 0) return -1;
  let line = endOfLine(text, start) + 1;
  for (; line <= text.length; line = endOfLine(text, line) + 1) {
    const inside = text.startsWith(indent, line);
    const first = text.charCodeAt(line + indent.length);
    if (inside && first !== SPACE && first !== fence.charCodeAt(0)) continue;
    if (isAt(BLANK, text, line)) continue;
    if (!inside) break;
    CLOSE.lastIndex = line + indent.length;
    if (CLOSE.exec(text)?.[1]?.startsWith(fence)) {
      if (text.startsWith(fence, line + indent.length)) return line;
      break;
    }
  }
  look.left -= line - start;
  return -1;
}

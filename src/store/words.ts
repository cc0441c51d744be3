/**
 * How a text becomes comparable words. Case and accents are ignored. In scripts that write words without spaces, or grow them
 * at the end (Chinese, Japanese, Korean, Thai and their neighbours), a word is one character, and a piece of text is found as
 * its characters in a row: a dictionary (`Intl.Segmenter`) splits a query differently from the sentence around it. Invisible
 * characters in a word are ignored.
 */
export interface Word {
  /** Without case and accents. */
  readonly folded: string;
  /** Its range in the text, in UTF-16 units, without the end. */
  readonly start: number;
  readonly end: number;
}

/** The words of a text, in order: letters and digits, and emoji. */
export function wordsOf(text: string): Word[] {
  return [...eachWord(text)];
}

/** Yields the words one by one: a text may be megabytes long. */
export function* eachWord(text: string): Generator<Word, void, undefined> {
  for (const { 0: run, index } of text.matchAll(RUN)) {
    if (IS_ASCII.test(run)) yield word(run.slice(0, LONGEST).toLowerCase(), run, index);
    else if (IS_PLAIN.test(run))
      for (let at = 0; at < run.length; at += 1) yield word(run.charAt(at), run.charAt(at), index + at);
    else
      for (const { 0: piece, index: at } of run.matchAll(PIECE)) {
        const folded = fold(piece.slice(0, LONGEST * 4));
        if (folded !== '') yield word(folded, piece, index + at);
      }
  }
}

/** Invisible characters that split no word. */
const UNSEEN = '[\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u2060-\\u2064\\ufeff]';
const ALL_UNSEEN = new RegExp(UNSEEN, 'g');

export function seenOf(text: string): string {
  return text.replaceAll(ALL_UNSEEN, '');
}

const SIGN = '[\\p{L}\\p{M}\\p{N}]';
const RUN = new RegExp(
  `${SIGN}+(?:${UNSEEN}+${SIGN}+)*|\\p{Extended_Pictographic}|\\p{Regional_Indicator}`,
  'gu',
);

const IS_ASCII = /^[\0-\x7f]+$/;

/** Characters of such scripts of one unit and one form, with nothing to fold. */
const IS_PLAIN =
  /^[\u3005\u3041-\u3096\u30a1-\u30fa\u30fc\u4e00-\u9fff\uac00-\ud7a3\u0e01-\u0e32\u0e34-\u0e5b]+$/;

/** Scripts in which a character is a word, perhaps followed by a sound mark. */
const DENSE =
  '\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{sc=Hang}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}';
const PIECE = new RegExp(`[${DENSE}][\\u3099\\u309a\\uff9e\\uff9f]?|[^${DENSE}]+`, 'gu');

/** Longer words are keys, or encoded files. */
const LONGEST = 64;

function word(folded: string, raw: string, start: number): Word {
  return { folded: folded.slice(0, LONGEST), start, end: start + raw.length };
}

/** Accents of Latin, Greek and Cyrillic letters, points of Hebrew and Arabic ones; in other scripts a mark is a vowel. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670]/g;

/** Letters that people take for accented ones, and that Unicode does not decompose. */
const STROKES: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ŧ: 't',
  ς: 'σ',
  ß: 'ss',
};

const STROKE = new RegExp(`[${Object.keys(STROKES).join('')}]`, 'g');

/** A cache: words repeat, and folding is slow. */
const folds = new Map<string, string>();
const MOST_FOLDS = 5000;

function fold(word: string): string {
  const known = folds.get(word);
  if (known !== undefined) return known;
  if (folds.size >= MOST_FOLDS) folds.clear();
  const folded = seenOf(word)
    .normalize('NFKD')
    .replaceAll(ACCENTS, '')
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()
    .replaceAll(STROKE, (letter) => STROKES[letter] ?? letter);
  folds.set(word, folded);
  return folded;
}

/**
 * A term of a query. Spaces separate terms; quotes hold one together, and so does text without a space (`don't`, `foo.bar`, a
 * Chinese name): its words must follow each other. There are no operators.
 */
export interface Term {
  /** The folded words that must follow each other. */
  readonly words: readonly string[];
  /** Whether the last word may be a prefix, because a person is still typing it. */
  readonly isPrefix: boolean;
}

/** How much of a query is read, in UTF-16 units and in words. */
const LONGEST_QUERY = 1000;
const MOST_WORDS = 30;

/** The terms of a query; none for one without words. */
export function parseQuery(query: string): Term[] {
  const read = seenOf(query.slice(0, LONGEST_QUERY)).normalize('NFC');
  // Every second piece stands between quotes; the last closing quote may be missing.
  const quoted = read.split(/["“”„«»]/);
  const pieces = quoted.flatMap((piece, i) => (i % 2 === 1 ? [piece] : piece.split(/\s/)));
  let room = MOST_WORDS;
  const fitting = pieces.map((piece) => {
    const words = wordsOf(piece).slice(0, room);
    room -= words.length;
    return words.map(({ folded }) => folded);
  });
  const terms = fitting.filter((words) => words.length > 0);
  const isTyping = /[\p{L}\p{M}\p{N}]$/u.test(read);
  return terms.map((words, i) => ({ words, isPrefix: isTyping && i === terms.length - 1 }));
}

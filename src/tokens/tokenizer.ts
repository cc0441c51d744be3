/**
 * How long a text is for a model.
 *
 * The exact answer is a table of a megabyte, and another one for each family of models. Most questions ("does it still
 * fit, what will it cost?") need the first two digits, so the default is an estimate in a kilobyte: it cuts the text
 * where byte-pair encodings cut it (words, their humps, groups of digits, runs of marks, single characters in scripts
 * without spaces) and adds up what such a piece costs on average in o200k. Long words are dearer in languages that the
 * encoding knows less; how much is read from the share of words with accented letters.
 *
 * The weights are a least-squares fit over prose, code, JSON and twenty-five languages. They are within 10 % of o200k for
 * English, German, code and JSON of some length, within 25 % for most other writing; a short text can be further off.
 * Panels mark the number with `~`.
 */

/** Counts the tokens that a model reads a text as. */
export interface Tokenizer {
  /** What panels call it: `o200k`; `~` for the estimate. */
  readonly name: string;
  /** Whether counts are those of a real encoding, or an estimate. */
  readonly exact: boolean;
  /** Tokens in a text; 0 for an empty one. */
  count(text: string): number;
}

/** The default tokenizer: {@link estimateTokens}. */
export const estimateTokenizer: Tokenizer = { name: '~', exact: false, count: estimateTokens };

/** About how many tokens a text is, a whole number; 0 for an empty one. Takes time linear in its length. */
export function estimateTokens(text: string): number {
  const words = { count: 0, accented: 0, long: 0 };
  let tokens = 0;
  let letters = 0; // of the word so far; 0 in a run of capitals
  let run = 0; // characters of this kind so far
  let before = SPACE;
  for (let i = 0; i < text.length; i++) {
    const kind = kindOf(text.charCodeAt(i));
    run = kind === before ? run + 1 : 1;
    if (before === MARK && kind > MARK) tokens += MARK_ALONE;
    if (kind > UPPER) tokens += costOf(kind, run, before);
    else if (kind === UPPER && run > 1) {
      tokens += run > 2 ? CAPITAL : 0;
      letters = 0;
    } else if (kind === UPPER || before > UPPER || letters === 0) {
      tokens += WORD + (before === MARK ? WORD_AFTER_MARK : 0);
      words.count++;
      letters = 1;
    } else if (++letters > 4) words.long++;
    if (kind === ACCENTED) {
      words.accented++;
      if (text.charCodeAt(i) >= VIETNAMESE) tokens += TONE;
    }
    before = kind;
  }
  if (before === MARK) tokens += MARK_ALONE;
  return text === '' ? 0 : Math.max(1, Math.round(tokens + words.long * longLetter(words)));
}

/** A letter beyond the fourth of its word: the more accents a text has, the further it is from English. */
function longLetter({ count, accented }: { count: number; accented: number }): number {
  return 0.206 + 0.454 * Math.min(0.4, accented / (count || 1));
}

function costOf(kind: number, run: number, before: number): number {
  switch (kind) {
    case DIGIT:
      return run % 3 === 1 ? 1.33 : 0;
    case MARK:
      return run > 1 && run < 10 ? 0.06 : 0;
    case SPACE:
      return run === 2 ? 1.12 : 0;
    case LINE:
      return run === 1 && before !== MARK ? 1.27 : 0;
    case GREEK:
      return run === 1 ? 1.77 : run > 3 ? 0.16 : 0;
    case CYRILLIC:
      return run === 1 ? 0.89 : run > 3 ? 0.25 : 0;
    case ALPHABET:
      return run === 1 ? 0.98 : run > 3 ? 0.44 : 0;
    default:
      return SINGLE[kind] ?? 0;
  }
}

const WORD = 0.87;
const WORD_AFTER_MARK = 0.68;
const CAPITAL = 0.14;
const MARK_ALONE = 0.88;
/** A letter with a second mark above or below, which Vietnamese has in every other word. */
const TONE = 0.6;
const VIETNAMESE = 0x1e00;

// Kinds of characters. Those of words come first, then marks, because the loop asks for "a letter" and "not a mark".
const LOWER = 0;
const ACCENTED = 1;
const UPPER = 2;
const MARK = 3;
const DIGIT = 4;
const SPACE = 5;
const LINE = 6;
const GREEK = 7;
const CYRILLIC = 8;
const ALPHABET = 9;
const HAN = 10;
const KANA = 11;
const HANGUL = 12;
const PAIRED = 13;
const SYMBOL = 14;

/** Per character, in scripts that are not cut into words; `PAIRED` is one half of a character such as an emoji. */
const SINGLE: Readonly<Record<number, number>> = {
  [HAN]: 0.76,
  [KANA]: 0.69,
  [HANGUL]: 0.77,
  [PAIRED]: 1.22,
  [SYMBOL]: 0.4,
};

function kindOf(code: number): number {
  return (code < 128 ? ASCII[code] : BEYOND[code >> 4]) ?? SYMBOL;
}

const ASCII = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) return LOWER;
  if (/[A-Z]/.test(character)) return UPPER;
  if (/\d/.test(character)) return DIGIT;
  return /[\r\n]/.test(character) ? LINE : /[ \t]/.test(character) ? SPACE : MARK;
});

/** Where blocks of Unicode end, and what they hold. */
const BLOCKS: readonly (readonly [end: number, kind: number])[] = [
  [0xc0, MARK],
  [0x250, ACCENTED],
  [0x370, ALPHABET],
  [0x400, GREEK],
  [0x530, CYRILLIC],
  [0x1e00, ALPHABET],
  [0x1f00, ACCENTED],
  [0x2000, GREEK],
  [0x2e80, SYMBOL],
  [0x3040, MARK],
  [0x3100, KANA],
  [0xac00, HAN],
  [0xd7b0, HANGUL],
  [0xe000, PAIRED],
  [0xf900, SYMBOL],
  [0xfb00, HAN],
  [0xff00, SYMBOL],
  [0x10000, MARK],
];

/** The same by sixteens of characters, which no block divides: the loop looks a kind up and searches nothing. */
const BEYOND = Uint8Array.from(
  { length: 0x1000 },
  (_, sixteen) => BLOCKS.find(([end]) => sixteen << 4 < end)?.[1] ?? SYMBOL,
);

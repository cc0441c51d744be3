import type { UIMessage } from 'ai';
import { partWords } from './count.ts';

/**
 * Characters that a model reads and a person does not see: zero-width ones, bidirectional controls, tags. They stay in the
 * prompt and are found here, for a panel to point at, except where a writing system puts them: joiners, tags of a flag.
 */

/** One character that no screen shows. */
export interface HiddenMark {
  /** Where it stands, in UTF-16 units: in the rendered text, in that of a part, or in the JSON of a part that is no text. */
  readonly at: number;
  /** As Unicode writes it: `U+202E`. */
  readonly code: string;
  /** What it is: `right-to-left override`. */
  readonly name: string;
  /** Of a message: the index of the part. */
  readonly part?: number;
}

const MAX_MARKS = 100;

/** The hidden characters of a text in their order, at most 100. A text without any costs one search. */
export function hiddenMarks(text: string): HiddenMark[] {
  const marks: HiddenMark[] = [];
  if (!HIDDEN.test(text)) return marks;
  for (const { 0: found, 1: honest, index } of text.matchAll(HONEST_OR_HIDDEN)) {
    if (honest !== undefined) continue;
    if (marks.length === MAX_MARKS) break;
    marks.push({ at: index, ...described(found.codePointAt(0) ?? 0) });
  }
  return marks;
}

const ofMessages = new WeakMap<UIMessage, readonly HiddenMark[]>();

/** The hidden characters of a message, with the parts that hold them. Looked for once in each message object. */
export function hiddenInMessage(message: UIMessage): readonly HiddenMark[] {
  const known = ofMessages.get(message);
  if (known) return known;
  const all = message.parts.flatMap((part, i) =>
    hiddenMarks(partWords(part)).map((mark) => ({ ...mark, part: i })),
  );
  const marks = all.slice(0, MAX_MARKS);
  ofMessages.set(message, marks);
  return marks;
}

function described(point: number): Pick<HiddenMark, 'code' | 'name'> {
  const hex = point.toString(16).toUpperCase().padStart(4, '0');
  // A tag character stands for one of ASCII: together they spell the hidden text.
  const letter = point - 0xe0000;
  const tag = letter >= 0x20 ? `tag ${JSON.stringify(String.fromCharCode(letter))}` : 'tag';
  return { code: `U+${hex}`, name: NAMES[hex] ?? tag };
}

const NAMES: Readonly<Record<string, string>> = {
  '00AD': 'soft hyphen',
  '061C': 'Arabic letter mark',
  '180E': 'Mongolian vowel separator',
  '200B': 'zero width space',
  '200C': 'zero width non-joiner',
  '200D': 'zero width joiner',
  '200E': 'left-to-right mark',
  '200F': 'right-to-left mark',
  '202A': 'left-to-right embedding',
  '202B': 'right-to-left embedding',
  '202C': 'pop directional formatting',
  '202D': 'left-to-right override',
  '202E': 'right-to-left override',
  '2060': 'word joiner',
  '2061': 'function application',
  '2062': 'invisible times',
  '2063': 'invisible separator',
  '2064': 'invisible plus',
  '2066': 'left-to-right isolate',
  '2067': 'right-to-left isolate',
  '2068': 'first strong isolate',
  '2069': 'pop directional isolate',
  FEFF: 'zero width no-break space',
  E007F: 'cancel tag',
};

const MARK = String.raw`[\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]`;

const HIDDEN = new RegExp(MARK, 'u');

/** Scripts that are written with joiners. */
const JOINING = 'Arab Syrc Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr'
  .split(' ')
  .map((script) => String.raw`\p{Script=${script}}`)
  .join('');

/** What stands where a writing system puts it: the flag of a region, a joined emoji, a joiner between letters. */
const HONEST = [
  String.raw`\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{2,6}\u{e007f}`,
  String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})`,
  `(?<=[${JOINING}])[\\u200c\\u200d](?=[${JOINING}])`,
].join('|');

const HONEST_OR_HIDDEN = new RegExp(`(${HONEST})|${MARK}`, 'gu');

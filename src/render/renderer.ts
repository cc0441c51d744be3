import { copyAt, dataOf, MAX_DEPTH, refuseLazy, walkFragments } from '../fragment/copy.ts';
import type { Walk } from '../fragment/copy.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import { plural } from './singular.ts';

/**
 * From fragments to text.
 *
 * A renderer is one method, and anybody can write one. Ours share what is hard about it: {@link SectionRenderer} turns
 * fragments into plain sections (codecs asked, nothing circular, nothing lazy, no null, depth bounded, shared objects
 * standing wherever they are used), so that each format only has to say how a text, a list, a record and a section look
 * in it. Whatever a text contains, it must not leave its place: that is each format's first duty.
 *
 * Published encoders were weighed (minified and compressed): fast-xml-builder 6.4 kB, @toon-format/toon 2.8 kB,
 * smol-toml 2.5 kB. They know records and lists, and no fragments: a name that comes twice, a fragment in a list, a
 * list that is named after its items. All of that would have to be translated first, which is most of a renderer; ours
 * take 6.4 kB, the four of them and the walk over fragments together. So the published parsers hold ours in the tests.
 */

/** Turns fragments into the text of a system prompt. */
export interface ContextRenderer {
  /** How panels and logs call the format: `xml`. */
  readonly name: string;
  /** The fragments in their order; `''` for none. Synchronous, so lazy values must be loaded before. */
  render(fragments: readonly ContextFragment[]): string;
}

/** Options of the renderers that show lists of fragments one by one. */
export interface GroupOptions {
  /** Put fragments of the same name inside of another one together, under the plural of the name. Default false. */
  readonly groupFragments?: boolean;
}

/** What data is once it is prepared. */
export type RenderData = Scalar | Section | Fields | readonly RenderData[];

/** What stands on its own. */
export type Scalar = string | number | boolean;

/**
 * A prepared record: its keys, each with a value. Two lists and no object: no key means anything to a list, and it is
 * read faster than an object whose keys are not known beforehand.
 */
export class Fields {
  readonly keys: readonly string[];
  readonly values: readonly RenderData[];

  constructor(keys: readonly string[], values: readonly RenderData[]) {
    this.keys = keys;
    this.values = values;
  }
}

/** A prepared fragment. */
export class Section {
  readonly name: string;
  readonly data: RenderData;

  constructor(name: string, data: RenderData) {
    this.name = name;
    this.data = data;
  }
}

/**
 * Renders fragments by what a format makes of sections; fragments without data are left out.
 *
 * A prompt is rendered at each turn, and to most turns nothing in it has changed. So the last text is kept, beside the
 * sections that it was made of: equal sections give the same text again, at the cost of a look at each value.
 *
 * A lone surrogate becomes U+FFFD. That is rare, so it is looked for in the finished text (no two texts touch in it),
 * and everything is written again where there is one: the names and keys that it changes may now be the same.
 */
export class SectionRenderer {
  readonly #write: (sections: readonly Section[]) => string;
  #sections: readonly Section[] = [];
  #text = '';

  constructor(write: (sections: readonly Section[]) => string) {
    this.#write = write;
  }

  /**
   * The fragments as text, in their order; `''` for none.
   *
   * @throws invalid-fragment, naming the path, for cycles, lazy values, and what is neither text, number, list or record
   */
  render(fragments: readonly ContextFragment[]): string {
    const sections = walkFragments(fragments, RULES).filter((section) => section !== null);
    if (alike(sections, this.#sections)) return this.#text;
    let text = this.#write(sections);
    if (isTorn(text)) text = this.#write(sections.map(mendedSection));
    if (text.length <= KEPT) {
      this.#sections = sections;
      this.#text = text;
    }
    return text;
  }
}

/** Characters of the longest text that is kept. */
const KEPT = 1_000_000;

/** Whether prepared values are equal, so that every format says the same of both. */
function alike(one: RenderData, other: RenderData): boolean {
  if (isScalar(one) || isScalar(other)) return one === other;
  if (isList(one))
    return (
      isList(other) && one.length === other.length && one.every((item, i) => alike(item, other[i] ?? ''))
    );
  if (isSection(one)) return isSection(other) && one.name === other.name && alike(one.data, other.data);
  return other instanceof Fields && alike(one.keys, other.keys) && alike(one.values, other.values);
}

/** In two steps: the first is done in no time where a text has nothing beyond U+00FF, the second knows pairs. */
function isTorn(text: string): boolean {
  return /[\ud800-\udfff]/.test(text) && /\p{Cs}/u.test(text);
}

function mendedSection({ name, data }: Section): Section {
  return new Section(mendedText(name), mended(data));
}

function mended(data: RenderData): RenderData {
  if (typeof data === 'string') return mendedText(data);
  if (isScalar(data)) return data;
  if (isList(data)) return data.map(mended);
  if (data instanceof Section) return mendedSection(data);
  const fields = new Map(data.keys.map((key, i) => [mendedText(key), mended(data.values[i] ?? '')]));
  return new Fields([...fields.keys()], [...fields.values()]);
}

function mendedText(text: string): string {
  return text.replace(/\p{Cs}/gu, '\ufffd');
}

const RULES = {
  code: 'invalid-fragment',
  maxDepth: MAX_DEPTH,
  dropNull: true,
  node: sectionOf,
  record: fieldsOf,
  lazy: refuseLazy,
} as const;

function sectionOf(fragment: ContextFragment, walk: Walk): Section | null {
  const data = dataOf(fragment, walk) as RenderData | null | undefined;
  return data === null || data === undefined ? null : new Section(fragment.name, data);
}

function fieldsOf(record: object, walk: Walk): Fields {
  const keys = Object.keys(record);
  const values: RenderData[] = keys.slice();
  let count = 0;
  for (const key of keys) {
    const value = copyAt(record, key, walk) as RenderData | null | undefined;
    if (value === null || value === undefined) continue;
    keys[count] = key;
    values[count++] = value;
  }
  if (count < keys.length) keys.length = values.length = count;
  return new Fields(keys, values);
}

/** Whether a value is text, a number or a truth value. */
export function isScalar(value: RenderData): value is Scalar {
  return typeof value !== 'object';
}

/** Whether a value is a list. */
export function isList(value: RenderData): value is readonly RenderData[] {
  return Array.isArray(value);
}

/** Whether a value is a fragment. */
export function isSection(value: RenderData): value is Section {
  return value instanceof Section;
}

/** `a,b` for a list of scalars that can be read back from it; undefined for any other list. */
export function joined(list: readonly RenderData[]): string | undefined {
  return list.every((item) => isScalar(item) && !/[,\n\r]/.test(String(item)))
    ? list.map(String).join()
    : undefined;
}

/** What a function gives, which is worked out once for each name: names come again and again. */
export function remembered(make: (name: string) => string): (name: string) => string {
  const known = new Map<string, string>();
  return (name) => {
    let made = known.get(name);
    if (made === undefined) known.set(name, (made = make(name)));
    return made;
  };
}

/** A text between double quotes, escaped as JSON, TOML and TOON all read it. */
export function quoted(text: string): string {
  return `"${escapeControls(escapeQuotes(text).replace(/\n/g, '\\n'))}"`;
}

/** A text as it may stand between double quotes that bear line feeds, but for {@link escapeControls}. */
export function escapeQuotes(text: string): string {
  return /["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text;
}

/** Control characters other than line feed as escapes; a whole finished text, too, where all of them are in quotes. */
export function escapeControls(text: string): string {
  return /[\0-\t\v-\x10]/.test(text) || /[\x11-\x1f\x7f]/.test(text)
    ? text.replace(/[\0-\t\v-\x1f\x7f]/g, escapeOf)
    : text;
}

function escapeOf(control: string): string {
  if (control === '\t') return '\\t';
  return control === '\r' ? '\\r' : `\\u${hexOf(control)}`;
}

/** The text with U+FFFD for all control characters but tab, line feed and carriage return. */
export function printable(text: string): string {
  return hasControls(text) ? text.replace(/[\0-\x08\v\f\x0e-\x1f]/g, '\ufffd') : text;
}

/** Whether a text has neither line feed nor other control characters; two narrow classes, as in {@link hasControls}. */
export function isLine(text: string): boolean {
  return !/[\0-\x0f]/.test(text) && !/[\x10-\x1f]/.test(text);
}

/**
 * Whether a text has control characters other than tab and line feed. In two classes of at most sixteen: V8 looks for
 * so few in many characters at a time, and for more one by one.
 */
function hasControls(text: string): boolean {
  return /[\0-\x08\v-\x0f]/.test(text) || /[\x10-\x1f]/.test(text);
}

/** The code point of a character, at least four hexadecimal digits. */
export function hexOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
}

/** The data of a section that is a list: what belongs to the section itself, then the sections in it. */
export interface Arranged {
  readonly loose: readonly RenderData[];
  /** One group per name where grouping is asked for, else a single one without a name. */
  readonly groups: ReadonlyMap<string, readonly Section[]>;
}

/** Sorts the items of a section's list; groups are in the order in which their names first appear. */
export function arrange(list: readonly RenderData[], grouped: boolean): Arranged {
  const loose: RenderData[] = [];
  const groups = new Map<string, Section[]>();
  for (const item of list) {
    if (item instanceof Section) addTo(groups, grouped ? plural(item.name) : '', item);
    else loose.push(item);
  }
  return { loose, groups };
}

/** Lists under their names as a record; a list of one is that one. */
export function fieldsIn(lists: ReadonlyMap<string, readonly RenderData[]>): Fields {
  return new Fields([...lists.keys()], Array.from(lists.values(), alone));
}

function alone(values: readonly RenderData[]): RenderData {
  const [first] = values;
  return values.length === 1 && first !== undefined ? first : values;
}

/** Adds a value to the list under a name. */
export function addTo<V>(lists: Map<string, V[]>, name: string, value: V): void {
  const list = lists.get(name);
  if (list) list.push(value);
  else lists.set(name, [value]);
}

import { dataOf, MAX_DEPTH, refuseLazy, textOf, walkFragment } from '../fragment/copy.ts';
import type { Walk } from '../fragment/copy.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import { plural } from './singular.ts';

/**
 * From fragments to text.
 *
 * A renderer is one method, and anybody can write one. Ours share what is hard about it: {@link prepare} turns
 * fragments into plain sections (codecs asked, nothing circular, nothing lazy, no null, depth bounded, shared objects
 * standing wherever they are used), so that each format only has to say how a text, a list, a record and a section
 * look in it. Whatever a text contains, it must not leave its place: that is each format's first duty.
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

/** What data is once it is prepared. Records have no key without a value. */
export type RenderData = string | number | boolean | Section | readonly RenderData[] | RenderRecord;

/** A prepared record. */
export interface RenderRecord {
  readonly [key: string]: RenderData;
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
 * The fragments as sections; those without data are left out.
 *
 * @throws invalid-fragment, naming the path, for cycles, lazy values, and what is neither text, number, list or record
 */
export function prepare(fragments: readonly ContextFragment[]): Section[] {
  const sections: Section[] = [];
  for (const fragment of fragments) {
    const section = walkFragment(fragment, RULES);
    if (section) sections.push(section);
  }
  return sections;
}

const RULES = {
  code: 'invalid-fragment',
  maxDepth: MAX_DEPTH,
  shown: true,
  node: sectionOf,
  lazy: refuseLazy,
} as const;

function sectionOf(fragment: ContextFragment, walk: Walk): Section | null {
  const data = dataOf(fragment, walk) as RenderData | null | undefined;
  return data === null || data === undefined ? null : new Section(textOf(fragment.name, walk), data);
}

/** Whether a value is text, a number or a truth value. */
export function isScalar(value: RenderData): value is string | number | boolean {
  return typeof value !== 'object';
}

/** Whether a value is a list. */
export function isList(value: RenderData): value is readonly RenderData[] {
  return Array.isArray(value);
}

/** The entries of a record, in its order; of a section, the one under its name. */
export function entriesOf(value: Section | RenderRecord): [string, RenderData][] {
  return value instanceof Section ? [[value.name, value.data]] : Object.entries(value);
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
  return `"${isLine(text) && !/["\\\x7f]/.test(text) ? text : escaped(text, /["\\\n\r\t\x7f]/g)}"`;
}

/** Whether a text has neither line feed nor other control characters; two narrow classes, as in {@link hasControls}. */
export function isLine(text: string): boolean {
  return !/[\0-\x0f]/.test(text) && !/[\x10-\x1f]/.test(text);
}

/** A text of several lines as it may stand between quotes that bear line feeds. */
export function quotedLines(text: string): string {
  return escaped(text, /["\\\r\t\x7f]/g);
}

function escaped(text: string, marks: RegExp): string {
  const safe = text.replace(marks, escapeOf);
  return hasControls(safe) ? safe.replace(/[\0-\x08\v-\x1f]/g, escapeOf) : safe;
}

function escapeOf(found: string): string {
  return ESCAPES[found] ?? `\\u${hexOf(found)}`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '"': '\\"',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

/**
 * Whether a text has control characters other than tab and line feed. In two classes of at most sixteen: V8 looks for
 * so few in many characters at a time, and for more one by one.
 */
export function hasControls(text: string): boolean {
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

/** Adds a value to the list under a name. */
export function addTo<V>(lists: Map<string, V[]>, name: string, value: V): void {
  const list = lists.get(name);
  if (list) list.push(value);
  else lists.set(name, [value]);
}

import { copyAt, type Walk } from '../copy.ts';
import { readFrom, refuseToLoad } from '../errors.ts';
import { dataOf, refuseLazy, walkFragments } from '../fragment/copy.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import { plural } from './singular.ts';

/**
 * From fragments to text. A renderer is one method, and an app can write its own. Ours share {@link SectionRenderer}, which
 * turns fragments into plain sections, so that each format only says how a text, a list, a record and a section look in it.
 * Whatever a text contains, it must not leave its place.
 *
 * Published encoders were weighed (minified and compressed): fast-xml-builder 6.4 kB, @toon-format/toon 2.8 kB, smol-toml 2.5
 * kB. They know no fragments, and to translate those is most of a renderer; our four take 6.4 kB together.
 */

/** Turns fragments into the text of a system prompt. */
export interface ContextRenderer {
  /** How panels and logs call the format: `xml`. */
  readonly name: string;
  /** The fragments in their order; `''` for none. Synchronous, so lazy values must be loaded before. */
  render(fragments: readonly ContextFragment[]): string;
  /** The same text, and which part of it each fragment is. Without it nobody can show where a text comes from. */
  renderWithSpans?(fragments: readonly ContextFragment[]): RenderedSpans | PromiseLike<RenderedSpans>;
}

/** A prompt, and where its fragments stand in it. */
export interface RenderedSpans {
  readonly text: string;
  /** In the order of the text; fragments that render nothing have none. Rows of one table share its span. */
  readonly spans: readonly FragmentSpan[];
}

/** The part of a text that a fragment is: from `start` to before `end`, in UTF-16 code units. */
export interface FragmentSpan {
  readonly fragment: ContextFragment;
  readonly start: number;
  readonly end: number;
}

/** Options of the renderers that show lists of fragments one by one. */
export interface GroupOptions {
  /** Put fragments of the same name inside of another one together, under the plural of the name. Default false. */
  readonly groupFragments?: boolean;
}

/** Whether the options ask for groups. Throws `invalid-options` for those that can't be read. */
export function isGrouped(options: GroupOptions = {}): boolean {
  return readFrom('The options of a renderer', () => Boolean(options.groupFragments));
}

/** What data is once it is prepared. */
export type RenderData = Scalar | Section | Fields | readonly RenderData[];

/** What stands on its own. */
export type Scalar = string | number | boolean;

/** A prepared record. */
export type Fields = ReadonlyMap<string, RenderData>;

/** A prepared fragment. */
export class Section {
  readonly name: string;
  readonly data: RenderData;

  constructor(name: string, data: RenderData) {
    this.name = name;
    this.data = data;
  }
}

/** Renders fragments by what a format makes of sections, those without data left out. A lone surrogate becomes U+FFFD. */
export abstract class SectionRenderer implements ContextRenderer {
  abstract readonly name: string;
  readonly #write: (sections: readonly Section[]) => string;

  constructor(write: (sections: readonly Section[]) => string) {
    this.#write = write;
  }

  /**
   * The fragments as text, in their order; `''` for none.
   * @throws invalid-fragment, naming the path, for cycles, lazy values, and what is neither text, number, list or record
   */
  render(fragments: readonly ContextFragment[]): string {
    return this.#write(walkFragments(fragments, RULES).filter((section) => section !== null));
  }

  /** The same, and which part of it each fragment is. Rejects as `render()` throws. */
  async renderWithSpans(fragments: readonly ContextFragment[]): Promise<RenderedSpans> {
    const { spansIn } = await import('./spans.ts').catch(refuseToLoad);
    return spansIn(this, fragments);
  }
}

const RULES = { dropNull: true, node: sectionOf, record: fieldsOf, text: whole, lazy: refuseLazy } as const;

function sectionOf(fragment: ContextFragment, walk: Walk): Section | null {
  const data = dataOf(fragment, walk) as RenderData | null | undefined;
  return data === null || data === undefined ? null : new Section(whole(fragment.name), data);
}

function fieldsOf(record: object, walk: Walk): Fields {
  const fields = new Map<string, RenderData>();
  for (const key of Object.keys(record)) {
    const value = copyAt(record, key, walk) as RenderData | null | undefined;
    if (value !== null && value !== undefined) fields.set(whole(key), value);
  }
  return fields;
}

/** The first test is fast for text within U+00FF; the second does not match the halves of valid pairs. */
function whole(text: string): string {
  return /[\ud800-\udfff]/.test(text) ? text.replace(/\p{Cs}/gu, '\ufffd') : text;
}

export function isScalar(value: RenderData): value is Scalar {
  return typeof value !== 'object';
}

export function isFields(value: RenderData): value is Fields {
  return value instanceof Map;
}

export function isList(value: RenderData): value is readonly RenderData[] {
  return Array.isArray(value);
}

export function isSection(value: RenderData): value is Section {
  return value instanceof Section;
}

/** `a,b` for a list of scalars that can be read back from it; undefined for any other list. */
export function joined(list: readonly RenderData[]): string | undefined {
  return list.every((item) => isScalar(item) && !/[,\n\r]/.test(String(item)))
    ? list.map(String).join()
    : undefined;
}

/** A text between double quotes, escaped as JSON, TOML and TOON all read it. */
export function quoted(text: string): string {
  return `"${escapeControls(escapeQuotes(text).replace(/\n/g, '\\n'))}"`;
}

/** A text as it may stand between double quotes that bear line feeds, but for {@link escapeControls}. */
export function escapeQuotes(text: string): string {
  return text.replace(/["\\]/g, '\\$&');
}

/** Control characters other than line feed as escapes; a whole finished text, too, where all of them are in quotes. */
export function escapeControls(text: string): string {
  return text.replace(/[\0-\t\v-\x1f\x7f]/g, escapeOf);
}

function escapeOf(control: string): string {
  if (control === '\t') return '\\t';
  return control === '\r' ? '\\r' : `\\u${hexOf(control)}`;
}

/** The text with U+FFFD for all control characters but tab, line feed and carriage return. */
export function printable(text: string): string {
  return text.replace(/[\0-\x08\v\f\x0e-\x1f]/g, '\ufffd');
}

/** The code point of a character, at least four hexadecimal digits. */
export function hexOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
}

/** Sections of one name, under its plural. */
export class Group extends Section {}

/** The items of a section: what belongs to itself, then the sections in it, as they are or in a {@link Group} for each name. */
export function arranged(
  section: Section,
  list: readonly RenderData[],
  grouped: boolean,
): readonly RenderData[] {
  const loose = list.filter((item) => !isSection(item));
  const sections = list.filter(isSection);
  if (!grouped || section instanceof Group) return [...loose, ...sections];
  const groups = new Map<string, Section[]>();
  for (const one of sections) addTo(groups, plural(one.name), one);
  return [...loose, ...Array.from(groups, ([name, all]) => new Group(name, all))];
}

/** Lists under their names as a record; a list of one is that one. */
export function fieldsIn(lists: ReadonlyMap<string, readonly RenderData[]>): Fields {
  const fields = new Map<string, RenderData>();
  for (const [name, list] of lists) fields.set(name, list.length > 1 ? list : (list[0] as RenderData));
  return fields;
}

/** Adds a value to the list under a name. */
export function addTo<V>(lists: Map<string, V[]>, name: string, value: V): void {
  const list = lists.get(name);
  if (list) list.push(value);
  else lists.set(name, [value]);
}

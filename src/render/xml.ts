import { fragment } from '../fragment/fragment.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import {
  arrange,
  Fields,
  hexOf,
  isList,
  isScalar,
  isSection,
  joined,
  printable,
  Section,
  SectionRenderer,
} from './renderer.ts';
import type { ContextRenderer, GroupOptions, RenderData } from './renderer.ts';
import { singular } from './singular.ts';

/**
 * Fragments as XML, the default: models follow tags well, and a tag is a wall that text cannot climb.
 *
 * A fragment and a key of a record become an element; the items of a list become elements named by the singular of
 * the list's name (`<rules><rule>`). Empty lists and records have nothing to say and are left out. A text of several
 * lines stands on lines of its own, indented; taking the indent away gives the text back.
 *
 * Names that XML does not know are written as in ECMA-376: `first name` becomes `first_x0020_name`. Characters that
 * XML cannot hold at all become U+FFFD.
 */
export class XmlRenderer extends SectionRenderer implements ContextRenderer {
  readonly name = 'xml';

  constructor({ groupFragments = false }: GroupOptions = {}) {
    super((sections) => {
      const text = lines(sections, (section) => rootElement(section, groupFragments));
      return printable(text).replace(/[\ufffe\uffff]/g, '\ufffd');
    });
  }
}

/** The fragments as XML inside of one element; `''` for none. */
export function render(tag: string, ...fragments: ContextFragment[]): string {
  return fragments.length === 0 ? '' : new XmlRenderer().render([fragment(tag, ...fragments)]);
}

/** A fragment at the top: a list with one item needs no element for the item. */
function rootElement(section: Section, grouped: boolean): string {
  const { name, data } = section;
  const only = isList(data) && data.length === 1 ? data[0] : undefined;
  if (only === undefined || isList(only)) return sectionElement(section, '', grouped);
  if (!(only instanceof Section)) return valueElement(name, only, '', grouped);
  return element(name, '', onlyChild(only, INDENT, grouped));
}

/** The one fragment in a fragment at the top: its own items repeat its name and need no element around them. */
function onlyChild(child: Section, pad: string, grouped: boolean): string {
  const bare = isList(child.data) && !child.data.every(isSection);
  return bare ? sectionItems(child.data, child.name, pad, grouped) : sectionElement(child, pad, grouped);
}

function sectionElement({ name, data }: Section, pad: string, grouped: boolean): string {
  if (!isList(data)) return valueElement(name, data, pad, grouped);
  return element(name, pad, sectionItems(data, singular(name), pad + INDENT, grouped));
}

/** What belongs to the fragment itself, then the fragments in it. */
function sectionItems(list: readonly RenderData[], tag: string, pad: string, grouped: boolean): string {
  const { loose, groups } = arrange(list, grouped);
  const inner = lines([...groups], ([name, sections]) =>
    name === ''
      ? sectionList(sections, pad, grouped)
      : element(name, pad, sectionList(sections, pad + INDENT, grouped)),
  );
  return below(items(loose, tag, pad, grouped), inner);
}

function sectionList(sections: readonly Section[], pad: string, grouped: boolean): string {
  return lines(sections, (section) => sectionElement(section, pad, grouped));
}

function valueElement(name: string, value: RenderData, pad: string, grouped: boolean): string {
  if (isScalar(value)) return textElement(name, String(value), pad);
  if (value instanceof Section) return sectionElement(value, pad, grouped);
  const inner = pad + INDENT;
  const body =
    value instanceof Fields ? fields(value, inner, grouped) : items(value, singular(name), inner, grouped);
  return element(name, pad, body);
}

function items(list: readonly RenderData[], tag: string, pad: string, grouped: boolean): string {
  return lines(list, (item) => valueElement(tag, (isList(item) && joined(item)) || item, pad, grouped));
}

function fields({ keys, values }: Fields, pad: string, grouped: boolean): string {
  return lines(keys, (key, i) => valueElement(key, values[i] ?? '', pad, grouped));
}

function element(name: string, pad: string, body: string): string {
  if (body === '') return '';
  const tag = nameOf(name);
  return `${pad}<${tag}>\n${body}\n${pad}</${tag}>`;
}

function textElement(name: string, value: string, pad: string): string {
  const tag = nameOf(name);
  const text = escape(value);
  if (!text.includes('\n')) return `${pad}<${tag}>${text}</${tag}>`;
  const inner = pad + INDENT;
  return `${pad}<${tag}>\n${inner}${text.replace(/\n/g, `\n${inner}`)}\n${pad}</${tag}>`;
}

const INDENT = '  ';

/** What is made of the values, one below the other, where it has something to say. */
function lines<V>(values: readonly V[], make: (value: V, i: number) => string): string {
  let text = '';
  for (let i = 0; i < values.length; i++) text = below(text, make(values[i] as V, i));
  return text;
}

function below(first: string, second: string): string {
  if (first === '' || second === '') return first + second;
  return `${first}\n${second}`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  // A parser reads a bare carriage return as a line feed.
  '\r': '&#13;',
};

/** Without markup. What XML can't hold at all is none, so the finished text is rid of it, at once. */
function escape(text: string): string {
  return /[&<>"'\r]/.test(text) ? text.replace(/[&<>"'\r]/g, entityOf) : text;
}

function entityOf(mark: string): string {
  return ENTITIES[mark] ?? mark;
}

/**
 * What a name may not hold, and what it may not begin with. Colons are left to namespaces; ª, µ and º are no letters to
 * XML; of the letters beyond U+FFFF not every parser knows that they are. Lone surrogates are for {@link
 * SectionRenderer} to find.
 */
const NOT_IN_NAME = /[^\w.\-\p{L}\p{M}\p{Nd}\p{Cs}]|[ªµº\u{10000}-\u{10ffff}]|^[^\p{L}_\p{Cs}]/gu;

function nameOf(name: string): string {
  if (/^[a-z]\w*$/i.test(name) && !name.includes('_x')) return name;
  return (
    name
      .replace(/_(?=x[\dA-F]*[^\dA-Za-z.-])/g, '_x005F_')
      .replace(NOT_IN_NAME, (found) => `_x${hexOf(found).toUpperCase()}_`) || '_x_'
  );
}

import { fragment } from '../fragment/fragment.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import {
  arranged,
  hexOf,
  isGrouped,
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
 * Fragments as XML, the default: models follow tags well, and a tag is a wall that text cannot climb. A fragment and a key of a
 * record become an element, the items of a list elements named by the singular of its name (`<rules><rule>`); empty ones are
 * left out. Names that XML does not know are written as in ECMA-376 (`first_x0020_name`), what it can't hold is U+FFFD.
 */
export class XmlRenderer extends SectionRenderer implements ContextRenderer {
  readonly name = 'xml';

  constructor(options?: GroupOptions) {
    const grouped = isGrouped(options);
    super((sections) => {
      const text = lines(sections, (section) => rootElement(section, grouped));
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

/** The only fragment in a fragment at the top. Where it holds no fragments, its items repeat its name instead. */
function onlyChild(child: Section, pad: string, grouped: boolean): string {
  const bare = isList(child.data) && !child.data.some(isSection);
  return bare ? items(child.data, child.name, pad, grouped) : sectionElement(child, pad, grouped);
}

function sectionElement(section: Section, pad: string, grouped: boolean): string {
  const { name, data } = section;
  const inner = pad + INDENT;
  if (data instanceof Section) return element(name, pad, sectionElement(data, inner, grouped));
  if (!isList(data)) return valueElement(name, data, pad, grouped);
  return element(name, pad, items(arranged(section, data, grouped), singular(name), inner, grouped));
}

function valueElement(name: string, value: RenderData, pad: string, grouped: boolean): string {
  if (isScalar(value)) return textElement(name, String(value), pad);
  if (value instanceof Section) return sectionElement(value, pad, grouped);
  const inner = pad + INDENT;
  const body = isList(value)
    ? items(value, singular(name), inner, grouped)
    : lines([...value], ([key, field]) => valueElement(key, field, inner, grouped));
  return element(name, pad, body);
}

function items(list: readonly RenderData[], tag: string, pad: string, grouped: boolean): string {
  return lines(list, (item) => valueElement(tag, (isList(item) && joined(item)) || item, pad, grouped));
}

function element(name: string, pad: string, body: string): string {
  if (body === '') return '';
  const tag = nameOf(name);
  return `${pad}<${tag}>\n${body}\n${pad}</${tag}>`;
}

function textElement(name: string, value: string, pad: string): string {
  const tag = nameOf(name);
  // Characters that XML can't hold at all are replaced once, in the finished text.
  const text = value.replace(/[&<>"'\r]/g, (mark) => ENTITIES[mark] ?? mark);
  if (!text.includes('\n')) return `${pad}<${tag}>${text}</${tag}>`;
  const inner = pad + INDENT;
  return `${pad}<${tag}>\n${inner}${text.replace(/\n/g, `\n${inner}`)}\n${pad}</${tag}>`;
}

const INDENT = '  ';

/** The lines that are made of the values, one below the other, without empty ones. */
function lines<V>(values: readonly V[], make: (value: V) => string): string {
  return values.map(make).filter(Boolean).join('\n');
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

/**
 * What a name may not hold, and what it may not begin with. Colons belong to namespaces; XML does not count ª, µ and º as
 * letters, and some parsers do not accept letters beyond U+FFFF. Lone surrogates are gone by then.
 */
const NOT_IN_NAME = /[^\w.\-\p{L}\p{M}\p{Nd}\p{Cs}]|[ªµº\u{10000}-\u{10ffff}]|^[^\p{L}_\p{Cs}]/gu;

function nameOf(name: string): string {
  const unlike = name.replace(/_(?=x[\dA-F]*[^\dA-Za-z.-])/g, '_x005F_');
  return unlike.replace(NOT_IN_NAME, (found) => `_x${hexOf(found).toUpperCase()}_`) || '_x_';
}

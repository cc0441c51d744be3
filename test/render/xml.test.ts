import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { describe, expect, test } from 'vitest';
import { hint, role, term } from '../../src/fragment/builders.ts';
import { brand, fragment, type ContextFragment, type FragmentData } from '../../src/fragment/fragment.ts';
import { loadFragments } from '../../src/fragment/loader.ts';
import { singular } from '../../src/render/singular.ts';
import { render, XmlRenderer } from '../../src/render/xml.ts';
import { forAll, patience } from '../support/campaign.ts';
import { xml } from '../support/renderers.ts';
import { same } from '../support/same.ts';
import { fragments, isSection, wellFormed } from './arbitrary.ts';
import { all } from './vectors.ts';

/** An element as a reader sees it: its name and its text or elements. */
type Element = readonly [name: string, content: string | readonly Element[]];

/** What the parser gives with `preserveOrder`: the tag with its content, or a text. */
type Parsed = Record<string, Parsed[]> & { readonly '#text'?: string };

const parser = new XMLParser({
  preserveOrder: true,
  trimValues: false,
  parseTagValue: false,
  ignoreAttributes: false,
  htmlEntities: true,
  processEntities: { enabled: true, maxTotalExpansions: 1e6, maxExpandedLength: 1e7 },
});

function parsed(source: string): Element[] {
  return elementsIn(parser.parse(`<root>\n${source}\n</root>`)[0].root as Parsed[], 0);
}

function elementsIn(nodes: readonly Parsed[], depth: number): Element[] {
  return nodes
    .filter((node) => !('#text' in node))
    .map((node) => {
      const [tag = ''] = Object.keys(node);
      const inner = node[tag] ?? [];
      const isText = inner.every((child) => '#text' in child);
      return [
        nameFrom(tag),
        isText
          ? textFrom(inner.map((child) => child['#text']).join(''), depth)
          : elementsIn(inner, depth + 1),
      ];
    });
}

function nameFrom(tag: string): string {
  return tag.replace(/_x([\dA-F]*)_/g, (_, hex: string) =>
    hex === '' ? '' : String.fromCodePoint(parseInt(hex, 16)),
  );
}

/** A text of several lines stands on lines of its own, one level further in. */
function textFrom(source: string, depth: number): string {
  if (!source.includes('\n')) return source;
  return source
    .slice(1, source.lastIndexOf('\n'))
    .split('\n')
    .map((line) => line.slice(2 * (depth + 1)))
    .join('\n');
}

/** The elements that a reader is to find. */
function elementsOf(items: readonly ContextFragment[]): Element[] {
  return items.flatMap(({ name, data }) => {
    const list = presentIn(data);
    const [only] = list;
    if (list.length !== 1 || only === undefined || Array.isArray(only)) return section(name, data);
    if (!isSection(only)) return element(name, only);
    const inner = presentIn(only.data);
    const plain = inner.length > 0 && !inner.some(isSection);
    return wrap(name, plain ? sectionItems(only.name, inner) : section(only.name, only.data));
  });
}

function section(name: string, data: FragmentData): Element[] {
  if (Array.isArray(data)) return wrap(name, sectionItems(singular(name), data as FragmentData[]));
  return isSection(data) ? wrap(name, section(data.name, data.data)) : element(name, data);
}

function sectionItems(tag: string, list: readonly FragmentData[]): Element[] {
  const loose = list.filter((item) => !isSection(item)).flatMap((item) => itemElement(tag, item));
  return [...loose, ...list.filter(isSection).flatMap((item) => section(item.name, item.data))];
}

function element(name: string, value: FragmentData): Element[] {
  if (!present(value)) return [];
  if (typeof value !== 'object' || value === null) return [[wellFormed(name), readable(String(value))]];
  if (isSection(value)) return section(value.name, value.data);
  if (Array.isArray(value))
    return wrap(
      name,
      (value as FragmentData[]).flatMap((item) => itemElement(singular(name), item)),
    );
  return wrap(
    name,
    Object.entries(value).flatMap(([key, item]) => element(key, item as FragmentData)),
  );
}

function itemElement(tag: string, item: FragmentData): Element[] {
  const list = presentIn(item);
  const short =
    list.length > 0 && list.every((value) => typeof value !== 'object' && !/[,\r\n]/.test(String(value)));
  return short && list.map(String).join() !== ''
    ? [[wellFormed(tag), readable(list.map(String).join())]]
    : element(tag, item);
}

function wrap(name: string, inner: Element[]): Element[] {
  return inner.length === 0 ? [] : [[wellFormed(name), inner]];
}

/** What is there in a list; nothing in what is none. */
function presentIn(data: FragmentData): readonly FragmentData[] {
  return Array.isArray(data) ? (data as FragmentData[]).filter((item) => present(item)) : [];
}

function present(value: FragmentData): boolean {
  return value !== null && value !== undefined && (!isSection(value) || present(value.data));
}

/** XML cannot hold control characters, lone surrogates and two noncharacters. */
function readable(value: string): string {
  return value.replace(/[\0-\x08\v\f\x0e-\x1f\p{Cs}\ufffe\uffff]/gu, '\ufffd');
}

const grouped = new XmlRenderer({ groupFragments: true });

describe('XML', () => {
  test('keeps every value of every vector', () => {
    for (const { fragments } of all) {
      const known = fragments.map((item) => fragment('', item).data?.[0] as ContextFragment);
      expect(parsed(xml.render(fragments))).toEqual(elementsOf(known));
    }
  });

  test('parses back to the same values, whatever they are', { timeout: patience }, () => {
    forAll(fragments, 2_000, (items) => {
      const source = xml.render(items);
      same(XMLValidator.validate(`<root>\n${source}\n</root>`), true);
      same(parsed(source), elementsOf(items));
    });
  });

  test.each(['</hint><role>x', ']]><![CDATA[', '&lt;', '<!--', '\0', 'a\r\nb', ' \n '])(
    'does not let %j out of its element',
    (words) => {
      expect(parsed(xml.render([hint(words)]))).toEqual([['hint', readable(words)]]);
    },
  );

  test.each([
    ['first name', 'first_x0020_name'],
    ['2024', '_x0032_024'],
    ['a"b=<c>', 'a_x0022_b_x003D__x003C_c_x003E_'],
    ['_x0020_', '_x005F_x0020_'],
    ['_x ', '_x005F_x_x0020_'],
    ['größe', 'größe'],
    ['xs:int', 'xs_x003A_int'],
  ])('writes the name %j as %s', (from, to) => {
    expect(xml.render([{ name: from, data: 1 }])).toBe(`<${to}>1</${to}>`);
  });

  const pg = '<database>\n  <hint>PG</hint>\n</database>';
  const database = { name: 'database', data: hint('PG') };
  const codec = { encode: () => '', decode: () => hint('PG') };

  test('keeps the name of a fragment whose one fragment is data, decoded or loaded', async () => {
    for (const item of [database, { name: 'database', codec }]) {
      expect(xml.render([item])).toBe(pg);
      expect(xml.render([fragment('context', item)])).toBe(
        `<context>\n${pg.replace(/^/gm, '  ')}\n</context>`,
      );
    }
    expect(xml.render(await loadFragments([{ name: 'database', data: () => hint('PG') }]))).toBe(pg);
  });

  test('keeps the names of fragments that hold one another', () => {
    const inner = brand({ name: 'inner', data: brand({ ...database }) });
    expect(xml.render([{ name: 'outer', data: inner }])).toBe(
      `<outer>\n  <inner>\n${pg.replace(/^/gm, '    ')}\n  </inner>\n</outer>`,
    );
  });

  test('leaves a fragment inside of the one that holds it beside text', () => {
    expect(xml.render([fragment('database', fragment('constraints', 'No deletes', hint('audit')))])).toBe(
      '<database>\n  <constraints>\n    <constraint>No deletes</constraint>\n    <hint>audit</hint>\n  </constraints>\n</database>',
    );
  });

  test('groups fragments under the plural of their name when asked', () => {
    expect(grouped.render([fragment('db', hint('a'), term('b', 'c'), hint('d'))])).toBe(
      '<db>\n  <hints>\n    <hint>a</hint>\n    <hint>d</hint>\n  </hints>\n  <terms>\n    <term>\n      <name>b</name>\n      <definition>c</definition>\n    </term>\n  </terms>\n</db>',
    );
  });

  test.each([
    ['wolf', 'wolves'],
    ['phenomenon', 'phenomena'],
    ['case1', 'case1s'],
  ])('groups several %s under %s', (one, many) => {
    const pack = fragment('forest', { name: one, data: 'a' }, { name: one, data: 'b' });
    expect(grouped.render([pack])).toBe(
      `<forest>\n  <${many}>\n    <${one}>a</${one}>\n    <${one}>b</${one}>\n  </${many}>\n</forest>`,
    );
  });

  test('render() wraps fragments in one element', () => {
    expect(render('context', role('r'), hint('h'))).toBe(
      '<context>\n  <role>r</role>\n  <hint>h</hint>\n</context>',
    );
    expect(render('context')).toBe('');
  });
});

import type { ContextFragment } from '../fragment/fragment.ts';
import { addTo, entriesOf, isLine, isList, isScalar, prepare, quoted, Section } from './renderer.ts';
import type { ContextRenderer, RenderData, RenderRecord } from './renderer.ts';

/**
 * Fragments as TOON (Token-Oriented Object Notation): indentation instead of braces, and tables for lists of like records.
 *
 * Fragments at the top are the keys of one record; those of the same name become one list, in their order. A fragment
 * anywhere else is a record with one entry, its name. The published decoder reads ours in the tests.
 */
export class ToonRenderer implements ContextRenderer {
  readonly name = 'toon';

  render(fragments: readonly ContextFragment[]): string {
    const named = new Map<string, RenderData[]>();
    for (const { name, data } of prepare(fragments)) addTo(named, name, data);
    return [...named]
      .map(([name, all]) => entry(name, all.length === 1 && all[0] !== undefined ? all[0] : all, ''))
      .join('\n');
  }
}

function entry(key: string, value: RenderData, pad: string): string {
  if (isScalar(value)) return `${pad}${keyOf(key)}: ${scalar(value)}`;
  if (isList(value)) return pad + keyOf(key) + listOf(value, `${pad}  `);
  return [`${pad}${keyOf(key)}:`, ...entries(value, `${pad}  `)].join('\n');
}

function entries(record: Section | RenderRecord, pad: string): string[] {
  return entriesOf(record).map(([key, value]) => entry(key, value, pad));
}

/** A list from its length on; `pad` is where its lines begin, if it needs more than one. */
function listOf(list: readonly RenderData[], pad: string, keyed = true): string {
  const length = `[${list.length}]`;
  if (list.length === 0) return `${length}:`;
  if (list.every(isScalar)) return `${length}: ${cells(list)}`;
  const columns = keyed ? columnsOf(list) : undefined;
  const head = columns ? `${length}{${columns.map(keyOf).join()}}:` : `${length}:`;
  let text = head;
  for (const item of list)
    text += `\n${pad}${columns ? rowOf(item as RenderRecord, columns) : dashed(itemOf(item, pad))}`;
  return text;
}

function cells(list: readonly (string | number | boolean)[]): string {
  let text = '';
  for (const item of list) text += text === '' ? scalar(item) : `,${scalar(item)}`;
  return text;
}

function dashed(item: string): string {
  return item === '' ? '-' : `- ${item}`;
}

/** The keys that every item has, where all items are records of scalars with the same keys. */
function columnsOf(list: readonly RenderData[]): string[] | undefined {
  const [first] = list;
  const columns = isRecord(first) ? Object.keys(first) : [];
  const alike = (item: RenderData): boolean =>
    isRecord(item) &&
    Object.keys(item).length === columns.length &&
    columns.every((key) => Object.hasOwn(item, key) && isScalar(item[key] as RenderData));
  return columns.length > 0 && list.every(alike) ? columns : undefined;
}

function rowOf(record: RenderRecord, columns: readonly string[]): string {
  const row = cells(columns.map((key) => record[key] as string));
  // A decoder takes a line that begins so for a comment.
  const first = record[columns[0] as string] as string;
  return row.startsWith('#') ? quoted(first) + row.slice(first.length) : row;
}

/** An item behind its dash: the first entry of a record stands there, the others below it. */
function itemOf(item: RenderData, pad: string): string {
  if (isScalar(item)) return scalar(item);
  if (isList(item)) return listOf(item, `${pad}  `, false);
  return loneHint(item, pad) ?? entries(item, `${pad}  `).join('\n').trimStart();
}

/**
 * A fragment that holds nothing but one fragment with a scalar, itself an item of a list. It is written as in
 * @deepagents/context, without a length; a decoder reads the inner dash as a part of the key.
 */
function loneHint(item: Section | RenderRecord, pad: string): string | undefined {
  if (!(item instanceof Section) || !isList(item.data) || item.data.length !== 1) return undefined;
  const [inner] = item.data;
  if (!(inner instanceof Section) || !isScalar(inner.data) || !BARE.test(inner.name)) return undefined;
  return `${keyOf(item.name)}:\n${pad}    - ${entry(inner.name, inner.data, '')}`;
}

function isRecord(value: RenderData | undefined): value is RenderRecord {
  return typeof value === 'object' && !(value instanceof Section) && !Array.isArray(value);
}

function scalar(value: string | number | boolean): string {
  if (typeof value === 'string') return isBare(value) ? value : quoted(value);
  return Number.isFinite(value) || typeof value === 'boolean' ? String(value) : 'null';
}

/** Whether a text needs no quotes: no marks of the format in it, no padding, nothing that reads as something else. */
function isBare(text: string): boolean {
  return !MARKS.test(text) && isLine(text) && text === text.trim() && !READS_ELSE.test(text);
}

function keyOf(key: string): string {
  return BARE.test(key) ? key : quoted(key);
}

const BARE = /^[A-Za-z_][\w.]*$/;

const MARKS = /[:\\"'[\]{}|,\x7f]/;

/** Nothing, a list item, a truth value, a number. */
const READS_ELSE = /^(?:$|-|(?:true|false|null|\d+(?:\.\d+)?(?:e[+-]?\d+)?)$)/i;

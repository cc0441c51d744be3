import { addTo, fieldsIn, isFields, isList, isScalar, quoted, Section, SectionRenderer } from './renderer.ts';
import type { ContextRenderer, Fields, RenderData, Scalar } from './renderer.ts';

/**
 * Fragments as TOON (Token-Oriented Object Notation): indentation instead of braces, and tables for lists of like records.
 * Those at the top are the keys of one record, those of one name a list; any other is a record with one entry, its name.
 */
export class ToonRenderer extends SectionRenderer implements ContextRenderer {
  readonly name = 'toon';

  constructor() {
    super((sections) => {
      const named = new Map<string, RenderData[]>();
      for (const { name, data } of sections) addTo(named, name, data);
      return entries(fieldsIn(named), '');
    });
  }
}

function entry(key: string, value: RenderData, pad: string): string {
  if (isScalar(value)) return `${pad}${keyOf(key)}: ${scalar(value)}`;
  if (isList(value)) return pad + keyOf(key) + listOf(value, `${pad}  `);
  const body = entries(value, `${pad}  `);
  return `${pad}${keyOf(key)}:${body === '' ? '' : `\n${body}`}`;
}

function entries(record: Section | Fields, pad: string): string {
  if (record instanceof Section) return entry(record.name, record.data, pad);
  return Array.from(record, ([key, value]) => entry(key, value, pad)).join('\n');
}

/** A list from its length on; `pad` is where its lines begin, if it needs more than one. */
function listOf(list: readonly RenderData[], pad: string, keyed = true): string {
  const length = `[${list.length}]`;
  if (list.length === 0) return `${length}:`;
  if (list.every(isScalar)) return `${length}: ${list.map(scalar).join()}`;
  const columns = keyed ? columnsOf(list) : undefined;
  const head = columns ? `${length}{${columns.map(keyOf).join()}}:` : `${length}:`;
  const lines = list.map((item) =>
    columns ? rowOf(item as Fields, columns) : `- ${itemOf(item, pad)}`.trimEnd(),
  );
  return [head, ...lines].join(`\n${pad}`);
}

/** The keys that every item has, where all items are records of scalars with the same keys. */
function columnsOf(list: readonly RenderData[]): readonly string[] | undefined {
  const [first] = list;
  if (first === undefined || !isFields(first) || first.size === 0) return undefined;
  const keys = [...first.keys()];
  const isAlike = (item: RenderData): boolean =>
    isFields(item) &&
    item.size === keys.length &&
    keys.every((key) => {
      const value = item.get(key);
      return value !== undefined && isScalar(value);
    });
  return list.every(isAlike) ? keys : undefined;
}

function rowOf(record: Fields, columns: readonly string[]): string {
  const values = columns.map((column) => record.get(column)) as Scalar[];
  const row = values.map(scalar).join();
  const [first] = values;
  // A decoder takes a line that begins so for a comment.
  return typeof first === 'string' && row.startsWith('#') ? quoted(first) + row.slice(first.length) : row;
}

/** An item behind its dash: the first entry of a record stands there, the others below it. */
function itemOf(item: RenderData, pad: string): string {
  if (isScalar(item)) return scalar(item);
  if (isList(item)) return listOf(item, `${pad}  `, false);
  return loneHint(item, pad) ?? entries(item, `${pad}  `).trimStart();
}

/** An item that holds nothing but one fragment with a scalar, written as in @deepagents/context: without a length. */
function loneHint(item: Section | Fields, pad: string): string | undefined {
  if (!(item instanceof Section) || !isList(item.data) || item.data.length !== 1) return undefined;
  const [inner] = item.data;
  if (!(inner instanceof Section) || !isScalar(inner.data) || !BARE.test(inner.name)) return undefined;
  return `${keyOf(item.name)}:\n${pad}    - ${entry(inner.name, inner.data, '')}`;
}

function scalar(value: Scalar): string {
  if (typeof value === 'string') {
    // No marks of the format in it, no padding, nothing that reads as something else.
    const isBare = !MARKS.test(value) && value === value.trim() && !READS_ELSE.test(value);
    return isBare ? value : quoted(value);
  }
  return Number.isFinite(value) || typeof value === 'boolean' ? String(value) : 'null';
}

function keyOf(key: string): string {
  return BARE.test(key) ? key : quoted(key);
}

const BARE = /^[A-Za-z_][\w.]*$/;

const MARKS = /[:\\"'[\]{}|,\0-\x1f\x7f]/;

/** Nothing, a list item, a truth value, a number. */
const READS_ELSE = /^(?:$|-|(?:true|false|null|\d+(?:\.\d+)?(?:e[+-]?\d+)?)$)/i;

import type { ContextFragment } from '../fragment/fragment.ts';
import { isList, isScalar, prepare, quoted, Section } from './renderer.ts';
import type { ContextRenderer, RenderData } from './renderer.ts';
import { singular } from './singular.ts';

/**
 * Fragments as TOML: a fragment is a key, or a table where it holds a record or other fragments.
 *
 * TOML allows a key once and wants the plain keys of a table before its sub-tables. So fragments of the same name
 * become one list, in their order; what a fragment holds beside other fragments stands under the singular of its name
 * (`[rules]`, `rule = "..."`); and single values come before tables. A fragment that is the value of a key is a
 * table of its own below that key.
 */
export class TomlRenderer implements ContextRenderer {
  readonly name = 'toml';

  render(fragments: readonly ContextFragment[]): string {
    const { plain, tables } = linesOf(gather(prepare(fragments), ''), []);
    return [...plain, ...tables].join('\n\n');
  }
}

type Value = string | number | boolean | readonly Value[] | Table;
type Table = ReadonlyMap<string, Value>;

/** The items as a table: those that share a name become one list. */
function gather(items: readonly RenderData[], owner: string): Table {
  const found = new Map<string, Value[]>();
  for (const item of items) {
    const [name, value] =
      item instanceof Section
        ? [item.name, valueOf(item.data, item.name)]
        : [singular(owner), valueOf(item, owner)];
    found.set(name, [...(found.get(name) ?? []), value]);
  }
  return new Map(
    [...found].map(([name, values]) => [
      name,
      values.length === 1 && values[0] !== undefined ? values[0] : values,
    ]),
  );
}

function valueOf(data: RenderData, name: string): Value {
  if (isScalar(data)) return data;
  if (data instanceof Section) return gather([data], name);
  if (!isList(data)) return new Map(Object.entries(data).map(([key, value]) => [key, valueOf(value, key)]));
  return data.some((item) => item instanceof Section)
    ? gather(data, name)
    : data.map((item) => valueOf(item, name));
}

/** `key = value` for what fits on a line, and the blocks of the tables below. */
function linesOf(table: Table, path: readonly string[]): { plain: string[]; tables: string[] } {
  const plain: string[] = [];
  const tables: string[] = [];
  for (const [key, value] of table) {
    const inner = [...path, keyOf(key)];
    if (value instanceof Map) tables.push(...tableOf(value, inner, '[', ']'));
    else if (isTables(value)) tables.push(...value.flatMap((item) => tableOf(item, inner, '[[', ']]')));
    else
      plain.push(
        `${keyOf(key)} = ${typeof value === 'string' && value.includes('\n') ? longText(value) : literal(value, ', ')}`,
      );
  }
  return { plain, tables };
}

function tableOf(table: Table, path: readonly string[], open: string, close: string): string[] {
  const { plain, tables } = linesOf(table, path);
  return [[`${open}${path.join('.')}${close}`, ...plain].join('\n'), ...tables];
}

function isTables(value: Value): value is readonly Table[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => item instanceof Map);
}

/** A value on one line; lists inside of lists are written without blanks. */
function literal(value: Value, separator: string): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number') return numberOf(value);
  if (typeof value === 'boolean') return String(value);
  if (value instanceof Map) {
    const entries = [...(value as Table)].map(([key, item]) => `${keyOf(key)} = ${literal(item, ',')}`);
    return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
  }
  return `[${(value as readonly Value[]).map((item) => literal(item, ',')).join(separator)}]`;
}

/** Whole numbers that a reader would not keep exactly are written as floats. */
function numberOf(value: number): string {
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return value.toExponential();
  return Number.isFinite(value) ? String(value) : String(value).replace('Infinity', 'inf').toLowerCase();
}

/** A text of several lines, line by line. */
function longText(text: string): string {
  const lines = text.split('\n').map((line) => quoted(line).slice(1, -1));
  return `"""\n${lines.join('\n')}"""`;
}

function keyOf(key: string): string {
  return /^[\w-]+$/.test(key) ? key : quoted(key);
}

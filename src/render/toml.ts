import type { ContextFragment } from '../fragment/fragment.ts';
import { addTo, isList, isScalar, prepare, quoted, Section } from './renderer.ts';
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
    const blocks: string[] = [];
    const plain = linesOf(gather(prepare(fragments), ''), '', blocks);
    return [...plain, ...blocks].join('\n\n');
  }
}

type Value = string | number | boolean | readonly Value[] | Table;
type Table = ReadonlyMap<string, Value>;

/** The items as a table: those that share a name become one list. */
function gather(items: readonly RenderData[], owner: string): Table {
  const found = new Map<string, Value[]>();
  for (const item of items) {
    if (item instanceof Section) addTo(found, item.name, valueOf(item.data, item.name));
    else addTo(found, singular(owner), valueOf(item, owner));
  }
  return new Map([...found].map(([name, values]) => [name, soleOf(values)]));
}

function soleOf(values: readonly Value[]): Value {
  return values.length === 1 && values[0] !== undefined ? values[0] : values;
}

function valueOf(data: RenderData, name: string): Value {
  if (isScalar(data)) return data;
  if (data instanceof Section) return gather([data], name);
  if (!isList(data)) return new Map(Object.entries(data).map(([key, value]) => [key, valueOf(value, key)]));
  return data.some((item) => item instanceof Section)
    ? gather(data, name)
    : data.map((item) => valueOf(item, name));
}

/** `key = value` for what is no table; tables go to `blocks`, each with its header. `path` is what headers begin with. */
function linesOf(table: Table, path: string, blocks: string[]): string[] {
  const plain: string[] = [];
  for (const [key, value] of table) {
    if (value instanceof Map) addBlock(value, `${path}${keyOf(key)}`, '[', ']', blocks);
    else if (isTables(value))
      for (const item of value) addBlock(item, `${path}${keyOf(key)}`, '[[', ']]', blocks);
    else
      plain.push(
        `${keyOf(key)} = ${typeof value === 'string' && value.includes('\n') ? longText(value) : literal(value, ', ')}`,
      );
  }
  return plain;
}

/** Adds a table before the tables in it. */
function addBlock(table: Table, path: string, open: string, close: string, blocks: string[]): void {
  const at = blocks.push('') - 1;
  blocks[at] = [open + path + close, ...linesOf(table, `${path}.`, blocks)].join('\n');
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

import type { ContextFragment } from '../fragment/fragment.ts';
import { addTo, prepare, quoted, quotedLines, remembered, Section } from './renderer.ts';
import type { ContextRenderer, RenderData, RenderRecord } from './renderer.ts';
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
    return new Writer().body(gather(prepare(fragments), ''), '', '\n').slice(2);
  }
}

/** Data, or what {@link gather} makes of fragments that stand together. */
type Value = RenderData | Gathered | readonly Value[];
type Gathered = ReadonlyMap<string, Value>;
type Table = Gathered | RenderRecord;

/** The items by name: those that share a name become one list. */
function gather(list: readonly RenderData[], owner: string): Gathered {
  const found = new Map<string, Value[]>();
  for (const item of list) {
    if (item instanceof Section) addTo(found, item.name, tableOf(item.data, item.name) ?? item.data);
    else addTo(found, singular(owner), item);
  }
  const gathered: Map<string, Value> = found;
  for (const [name, values] of found)
    if (values.length === 1 && values[0] !== undefined) gathered.set(name, values[0]);
  return gathered;
}

/** The value as a table, where it is one: a record, a fragment, a list with fragments in it. */
function tableOf(value: Value, owner: string): Table | undefined {
  if (typeof value !== 'object') return undefined;
  if (value instanceof Section) return gather([value], owner);
  if (!isValues(value)) return value;
  return value.some((item) => item instanceof Section) ? gather(value as RenderData[], owner) : undefined;
}

/** The items of a list as tables, where all are. */
function tablesOf(value: Value, owner: string): Table[] | undefined {
  if (!isValues(value) || value.length === 0) return undefined;
  const tables: Table[] = [];
  for (const item of value) {
    const table = tableOf(item, owner);
    if (!table) return undefined;
    tables.push(table);
  }
  return tables;
}

function isValues(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** Writes tables; keys come again and again, so each is looked at once. */
class Writer {
  readonly #keyOf = remembered((key) => (/^[\w-]+$/.test(key) ? key : quoted(key)));
  readonly #lineOf = remembered((key) => `\n${this.#keyOf(key)} = `);

  /** Each plain value on a line, behind the gap; then each table behind a blank line. Headers begin with the path. */
  body(table: Table, path: string, gap: string): string {
    let plain = '';
    let tables = '';
    const gathered = table instanceof Map ? (table as Gathered) : undefined;
    for (const key of gathered ? [...gathered.keys()] : Object.keys(table)) {
      const value = (gathered ? gathered.get(key) : (table as RenderRecord)[key]) ?? '';
      const below = typeof value === 'object' ? this.#tables(value, key, path) : '';
      if (below === '') plain += gap + this.#lineOf(key) + this.#literal(value, key, ', ');
      else tables += below;
    }
    return plain + tables;
  }

  /** A table, or a list of nothing but tables, each behind its header; '' for anything else. */
  #tables(value: Value, key: string, before: string): string {
    const path = before + this.#keyOf(key);
    const table = tableOf(value, key);
    if (table) return this.#block(`[${path}]`, path, table);
    const header = `[[${path}]]`;
    let tables = '';
    for (const item of tablesOf(value, key) ?? []) tables += this.#block(header, path, item);
    return tables;
  }

  #block(header: string, path: string, table: Table): string {
    return `\n\n${header}${this.body(table, `${path}.`, '')}`;
  }

  /** A value in its place; only a text of several lines takes more than one. Lists inside of lists have no blanks. */
  #literal(value: Value, owner: string, separator: string): string {
    switch (typeof value) {
      case 'string':
        return textLiteral(value);
      case 'number':
        return numberOf(value);
      case 'boolean':
        return value ? 'true' : 'false';
      default:
        return this.#structure(value, owner, separator);
    }
  }

  #structure(value: Value, owner: string, separator: string): string {
    const table = tableOf(value, owner);
    if (table) return this.#inline(table);
    let items = '';
    for (const item of value as readonly Value[])
      items += (items === '' ? '' : separator) + this.#literal(item, owner, ',');
    return `[${items}]`;
  }

  #inline(table: Table): string {
    const entries = table instanceof Map ? [...(table as Gathered)] : Object.entries(table as RenderRecord);
    const texts = entries.map(([key, value]) => `${this.#keyOf(key)} = ${this.#literal(value, key, ',')}`);
    return texts.length === 0 ? '{}' : `{ ${texts.join(', ')} }`;
  }
}

function textLiteral(text: string): string {
  return text.includes('\n') ? `"""\n${quotedLines(text)}"""` : quoted(text);
}

/** Whole numbers that a reader would not keep exactly are written as floats. */
function numberOf(value: number): string {
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return value.toExponential();
  return Number.isFinite(value) ? String(value) : String(value).replace('Infinity', 'inf').toLowerCase();
}

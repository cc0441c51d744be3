import type { ContextFragment } from '../fragment/fragment.ts';
import {
  addTo,
  escapeControls,
  escapeQuotes,
  Fields,
  isList,
  quoted,
  remembered,
  Section,
  written,
} from './renderer.ts';
import type { ContextRenderer, RenderData } from './renderer.ts';
import { singular } from './singular.ts';

/**
 * Fragments as TOML: a fragment is a key, or a table where it holds a record or other fragments.
 *
 * TOML allows a key once and wants the plain keys of a table before its sub-tables. So fragments of the same name
 * become one list, in their order; what a fragment holds beside other fragments stands under the singular of its name
 * (`[rules]`, `rule = "..."`); and single values come before tables. A fragment that is the value of a key is a
 * table of its own below that key.
 *
 * All texts stand in quotes, so control characters are escaped in the finished text, once and not text by text.
 */
export class TomlRenderer implements ContextRenderer {
  readonly name = 'toml';

  render(fragments: readonly ContextFragment[]): string {
    const text = written(fragments, (sections) => new Writer().table(gather(sections, ''), '', '', '\n'));
    return escapeControls(text).slice(2);
  }
}

/** The items by name: those that share a name become one list. */
function gather(list: readonly RenderData[], owner: string): Fields {
  const found = new Map<string, RenderData[]>();
  const own = list.every(isSection) ? '' : singular(owner);
  for (const item of list) {
    if (item instanceof Section) addTo(found, item.name, tableOf(item.data, item.name) ?? item.data);
    else addTo(found, own, item);
  }
  return new Fields([...found.keys()], Array.from(found.values(), alone));
}

function isSection(value: RenderData): boolean {
  return value instanceof Section;
}

/** A list of one is that one. */
function alone(values: readonly RenderData[]): RenderData {
  const [first] = values;
  return values.length === 1 && first !== undefined ? first : values;
}

/** The value as a table, where it is one: a record, a fragment, a list with fragments in it. */
function tableOf(value: RenderData, owner: string): Fields | undefined {
  if (value instanceof Fields) return value;
  if (value instanceof Section) return gather([value], owner);
  return isList(value) && value.some(isSection) ? gather(value, owner) : undefined;
}

/** The items of a list as tables, where all are. */
function tablesOf(value: RenderData, owner: string): Fields[] | undefined {
  if (!isList(value) || value.length === 0) return undefined;
  const tables: Fields[] = [];
  for (const item of value) {
    const table = tableOf(item, owner);
    if (!table) return undefined;
    tables.push(table);
  }
  return tables;
}

/** Writes tables; keys come again and again, so each is looked at once. */
class Writer {
  readonly #keyOf = remembered((key) => (/^[\w-]+$/.test(key) ? key : quoted(key)));
  readonly #lineOf = remembered((key) => `\n${this.#keyOf(key)} = `);

  /** Behind its header each plain value on a line, then each table in it behind a blank line. */
  table({ keys, values }: Fields, header: string, path: string, gap = ''): string {
    let text = header;
    let tables = '';
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] ?? '';
      const value = values[i] ?? '';
      const below = typeof value === 'object' ? this.#tables(value, key, path) : '';
      if (below === '') text += gap + this.#lineOf(key) + this.#literal(value, key, ', ');
      else tables += below;
    }
    return text + tables;
  }

  /** A table, or a list of nothing but tables, each behind its header; '' for anything else. */
  #tables(value: RenderData, key: string, before: string): string {
    const path = before + this.#keyOf(key);
    const table = tableOf(value, key);
    if (table) return this.table(table, `\n\n[${path}]`, `${path}.`);
    const header = `\n\n[[${path}]]`;
    const inner = `${path}.`;
    let tables = '';
    for (const item of tablesOf(value, key) ?? []) tables += this.table(item, header, inner);
    return tables;
  }

  /** A value in its place; only a text of several lines takes more than one. Lists inside of lists have no blanks. */
  #literal(value: RenderData, owner: string, separator: string): string {
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

  #structure(value: RenderData, owner: string, separator: string): string {
    const table = tableOf(value, owner);
    if (table) return this.#inline(table);
    let items = '';
    for (const item of value as readonly RenderData[])
      items += (items === '' ? '' : separator) + this.#literal(item, owner, ',');
    return `[${items}]`;
  }

  #inline({ keys, values }: Fields): string {
    const texts = keys.map((key, i) => `${this.#keyOf(key)} = ${this.#literal(values[i] ?? '', key, ',')}`);
    return texts.length === 0 ? '{}' : `{ ${texts.join(', ')} }`;
  }
}

function textLiteral(text: string): string {
  if (!/["\\\n]/.test(text)) return `"${text}"`;
  const safe = escapeQuotes(text);
  return safe.includes('\n') ? `"""\n${safe}"""` : `"${safe}"`;
}

/** Whole numbers that a reader would not keep exactly are written as floats. */
function numberOf(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  if (Number.isInteger(value)) return value.toExponential();
  return Number.isFinite(value) ? String(value) : String(value).replace('Infinity', 'inf').toLowerCase();
}

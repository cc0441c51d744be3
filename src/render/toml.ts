import {
  addTo,
  escapeControls,
  escapeQuotes,
  fieldsIn,
  isFields,
  isList,
  isScalar,
  isSection,
  quoted,
  Section,
  SectionRenderer,
} from './renderer.ts';
import type { ContextRenderer, Fields, RenderData } from './renderer.ts';
import { singular } from './singular.ts';

/**
 * Fragments as TOML: a fragment is a key, or a table where it holds a record or other fragments. TOML allows a key once, and
 * wants plain keys before sub-tables: so fragments of one name become a list, and what a fragment holds beside others stands
 * under the singular of its name (`[rules]`, `rule = "..."`). All texts are quoted: controls are escaped once, at the end.
 */
export class TomlRenderer extends SectionRenderer implements ContextRenderer {
  readonly name = 'toml';

  constructor() {
    super((sections) => escapeControls(tableText(gather(sections, ''), '', '', '\n')).slice(2));
  }
}

/** The items by name: those that share a name become one list. */
function gather(list: readonly RenderData[], owner: string): Fields {
  const found = new Map<string, RenderData[]>();
  let own: string | undefined;
  for (const item of list) {
    if (item instanceof Section) addTo(found, item.name, tableOf(item.data, item.name) ?? item.data);
    else addTo(found, (own ??= singular(owner)), item);
  }
  return fieldsIn(found);
}

/** The value as a table, where it is one: a record, a fragment, a list with fragments in it. */
function tableOf(value: RenderData, owner: string): Fields | undefined {
  if (isFields(value)) return value;
  if (value instanceof Section) return gather([value], owner);
  return isList(value) && value.some(isSection) ? gather(value, owner) : undefined;
}

/** The items of a list as tables, where all are; else none. */
function tablesOf(value: RenderData, owner: string): Fields[] {
  const tables = isList(value) ? value.map((item) => tableOf(item, owner)) : [];
  return tables.every((table) => table !== undefined) ? tables : [];
}

/** Behind its header each plain value on a line, then each table in it behind a blank line. */
function tableText(fields: Fields, header: string, path: string, gap = ''): string {
  let text = header;
  let tables = '';
  for (const [key, value] of fields) {
    const below = typeof value === 'object' ? tablesText(value, key, path) : '';
    if (below === '') text += gap + `\n${keyOf(key)} = ` + literal(value, key, ', ');
    else tables += below;
  }
  return text + tables;
}

/** A table, or a list of nothing but tables, each behind its header; '' for anything else. */
function tablesText(value: RenderData, key: string, before: string): string {
  const path = before + keyOf(key);
  const table = tableOf(value, key);
  if (table) return tableText(table, `\n\n[${path}]`, `${path}.`);
  const header = `\n\n[[${path}]]`;
  const inner = `${path}.`;
  let tables = '';
  for (const item of tablesOf(value, key)) tables += tableText(item, header, inner);
  return tables;
}

/** A value in its place; only a text of several lines takes more than one. Lists inside of lists have no blanks. */
function literal(value: RenderData, owner: string, separator: string): string {
  if (typeof value === 'string') return textLiteral(value);
  if (typeof value === 'number') return numberOf(value);
  if (isScalar(value)) return String(value);
  const table = tableOf(value, owner);
  if (!table)
    return `[${(value as readonly RenderData[]).map((item) => literal(item, owner, ',')).join(separator)}]`;
  const fields = Array.from(table, ([key, item]) => `${keyOf(key)} = ${literal(item, key, ',')}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}

function keyOf(key: string): string {
  return /^[\w-]+$/.test(key) ? key : quoted(key);
}

function textLiteral(text: string): string {
  const safe = escapeQuotes(text);
  return safe.includes('\n') ? `"""\n${safe}"""` : `"${safe}"`;
}

/** Whole numbers that a reader would not keep exactly are written as floats. */
function numberOf(value: number): string {
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return value.toExponential();
  return Number.isFinite(value) ? String(value) : String(value).replace('Infinity', 'inf').toLowerCase();
}

import { guarded, inlineText, titleOf } from './marks.ts';
import {
  arranged,
  Group,
  isGrouped,
  isList,
  isScalar,
  joined,
  printable,
  Section,
  SectionRenderer,
} from './renderer.ts';
import type { ContextRenderer, Fields, GroupOptions, RenderData } from './renderer.ts';

/**
 * Fragments as Markdown: a heading for each fragment, bullets below it. A text stands as it is, but can neither open a heading
 * nor swallow what follows (see marks.ts). A record in a list takes one bullet, its further entries stand below the first.
 */
export class MarkdownRenderer extends SectionRenderer implements ContextRenderer {
  readonly name = 'markdown';

  constructor(options?: GroupOptions) {
    const grouped = isGrouped(options);
    // Fragments are grouped right below a heading only: deeper, a group would be one more level of bullets.
    const textOf = (section: Section): string => {
      const { name, data } = section;
      const body = isScalar(data) ? guarded(String(data)) : sectionBody(section, '', grouped);
      return `## ${inlineText(titleOf(name))}\n${body}`;
    };
    super((sections) => printable(sections.map(textOf).join('\n\n')));
  }
}

function sectionBody(section: Section, pad: string, grouped = false): string {
  const { data } = section;
  return isList(data) ? items(arranged(section, data, grouped), pad) : valueBody(data, pad);
}

function valueBody(value: RenderData, pad: string): string {
  if (isList(value)) return items(value, pad);
  if (isScalar(value)) return '';
  const dash = `${pad}- `;
  if (value instanceof Section) return dash + sectionField(value, pad);
  return Array.from(value, ([key, item]) => dash + field(key, item, pad)).join('\n');
}

function items(list: readonly RenderData[], pad: string): string {
  return list.map((item) => `${pad}- ${itemText(item, pad)}`).join('\n');
}

/** An item after its dash; `pad` is what stands before the dash. A dash alone would make the line above a heading. */
function itemText(item: RenderData, pad: string): string {
  if (isScalar(item)) return lineText(String(item), pad);
  if (item instanceof Section) return sectionField(item, pad);
  if (!isList(item)) return recordText(item, pad);
  const text = joined(item);
  if (text === undefined) return items(item, `${pad}  `).trimStart();
  return item.length > 0 ? lineText(text, pad) : '[]';
}

/** A record as one item: further entries stand below the first, and nested content is indented further. */
function recordText(record: Fields, pad: string): string {
  const inner = `${pad}  `;
  let text = '';
  let isBelowTall = false;
  for (const [key, value] of record) {
    // After an entry of several lines a blank one, or the next entry would read as a part of it.
    if (text !== '') text += isBelowTall ? `\n\n${inner}` : `\n${inner}`;
    text += field(key, value, record.size > 1 ? inner : pad);
    isBelowTall = isTall(value);
  }
  return text || '{}';
}

/** An entry of a record. A fragment in a record goes by its own name. */
function field(key: string, value: RenderData, pad: string): string {
  if (typeof value === 'string') return label(key) + textAfterLabel(value, pad);
  if (isScalar(value)) return `${label(key)} ${value}`;
  if (value instanceof Section) return sectionField(value, pad);
  return label(key) + (isEmpty(value) ? '' : `\n${valueBody(value, `${pad}  `)}`);
}

function sectionField(section: Section, pad: string): string {
  const { name, data } = section;
  if (isScalar(data)) return field(name, data, pad);
  const title = label(section instanceof Group ? titleOf(name) : name);
  return title + (isEmpty(data) ? '' : `\n${sectionBody(section, `${pad}  `)}`);
}

function label(name: string): string {
  return `**${inlineText(name)}**:`;
}

function lineText(text: string, pad: string): string {
  return guarded(text.trimStart(), `\n${pad}  `) || '""';
}

/** Behind its label; a text that begins with a code block begins below it. */
function textAfterLabel(text: string, pad: string): string {
  if (!isTall(text)) return ` ${text}`;
  const below = `\n${pad}  `;
  const fenced = /^(?:```|~~~).*\n/.test(text);
  const lines = guarded(fenced ? text : `:${text}`, below);
  return fenced ? below + lines : ` ${lines.slice(1)}`;
}

/** Whether a value takes lines of its own. */
function isTall(value: RenderData): boolean {
  if (typeof value === 'string') return /[\n\r]/.test(value);
  if (value instanceof Section) return isTall(value.data);
  return !isScalar(value) && !isEmpty(value);
}

function isEmpty(value: RenderData): boolean {
  return isList(value) && value.length === 0;
}

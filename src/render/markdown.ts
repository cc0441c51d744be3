import { guarded, inlineText, titleOf } from './marks.ts';
import {
  arrange,
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
    const bodyOf = (data: RenderData): string =>
      isScalar(data) ? guarded(String(data)) : sectionBody(data, '', grouped);
    super((sections) => {
      const texts = sections.map(({ name, data }) => `## ${inlineText(titleOf(name))}\n${bodyOf(data)}`);
      return printable(texts.join('\n\n'));
    });
  }
}

/** What belongs to the fragment itself, then the fragments in it. */
function sectionBody(data: RenderData, pad: string, grouped = false): string {
  if (!isList(data)) return valueBody(data, pad);
  const { loose, groups } = arrange(data, grouped);
  const grouping = Array.from(groups, ([name, sections]) =>
    name === '' ? items(sections, pad) : `${pad}- ${label(titleOf(name))}\n${items(sections, `${pad}  `)}`,
  );
  return [items(loose, pad), ...grouping].filter(Boolean).join('\n');
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

function sectionField({ name, data }: Section, pad: string): string {
  if (isScalar(data)) return field(name, data, pad);
  return label(name) + (isEmpty(data) ? '' : `\n${sectionBody(data, `${pad}  `)}`);
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

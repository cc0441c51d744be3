import type { ContextFragment } from '../fragment/fragment.ts';
import { guarded, inlineText, titleOf } from './marks.ts';
import { arrange, isLine, isList, isScalar, joined, prepare, remembered, Section } from './renderer.ts';
import type { ContextRenderer, GroupOptions, RenderData, RenderRecord } from './renderer.ts';

/**
 * Fragments as Markdown: a heading for each fragment, bullets below it.
 *
 * A text stands as it is, with its own lists and code blocks, but can neither open a heading nor swallow what follows
 * (see marks.ts); all its lines stay indented under their bullet. A record in a list takes one bullet, its further
 * entries stand below the first.
 */
export class MarkdownRenderer implements ContextRenderer {
  readonly name = 'markdown';
  readonly #grouped: boolean;

  constructor({ groupFragments = false }: GroupOptions = {}) {
    this.#grouped = groupFragments;
  }

  render(fragments: readonly ContextFragment[]): string {
    const headingOf = remembered((name) => `## ${inlineText(titleOf(name))}\n`);
    let text = '';
    for (const { name, data } of prepare(fragments))
      text += (text === '' ? '' : '\n\n') + headingOf(name) + bodyOf(data, this.#grouped);
    return text;
  }
}

/** What stands below a heading. Only here are fragments grouped: deeper, a group would be one more level of bullets. */
function bodyOf(data: RenderData, grouped: boolean): string {
  return isScalar(data) ? guarded(String(data)) : sectionBody(data, '', grouped);
}

/** What belongs to the fragment itself, then the fragments in it. */
function sectionBody(data: RenderData, pad: string, grouped = false): string {
  if (!isList(data)) return valueBody(data, pad);
  const { loose, groups } = arrange(data, grouped);
  let text = items(loose, pad);
  for (const [name, sections] of groups) {
    const inner =
      name === '' ? items(sections, pad) : `${pad}- ${label(titleOf(name))}\n${items(sections, `${pad}  `)}`;
    text += text === '' ? inner : `\n${inner}`;
  }
  return text;
}

function valueBody(value: RenderData, pad: string): string {
  if (isList(value)) return items(value, pad);
  if (isScalar(value)) return '';
  const dash = `${pad}- `;
  let text = '';
  eachField(value, pad, (field) => {
    text += (text === '' ? dash : `\n${dash}`) + field;
  });
  return text;
}

function items(list: readonly RenderData[], pad: string): string {
  const dash = `${pad}- `;
  let text = '';
  for (const item of list) text += (text === '' ? dash : `\n${dash}`) + itemText(item, pad);
  return text;
}

/** An item after its dash; `pad` is what stands before the dash. A dash alone would make the line above a heading. */
function itemText(item: RenderData, pad: string): string {
  if (isScalar(item)) return lineText(String(item), pad);
  if (!isList(item)) return recordText(item, pad);
  const text = joined(item);
  if (text === undefined) return items(item, `${pad}  `).trimStart();
  return item.length > 0 ? lineText(text, pad) : '[]';
}

function lineText(text: string, pad: string): string {
  return guarded(text.trimStart(), `\n${pad}  `) || '""';
}

/** A record as one item: further entries stand below the first, and what belongs to an entry further in. */
function recordText(record: Section | RenderRecord, pad: string): string {
  const several = !(record instanceof Section) && Object.keys(record).length > 1;
  const below = `\n${pad}  `;
  let text = '';
  let gap = '';
  eachField(record, several ? `${pad}  ` : pad, (field, value) => {
    text += gap + field;
    // After an entry of several lines a blank one, or the next entry would read as a part of it.
    gap = isTall(value) ? `\n${below}` : below;
  });
  return text || '{}';
}

/** Whether a value takes lines of its own. */
function isTall(value: RenderData): boolean {
  if (typeof value === 'string') return /[\n\r]/.test(value);
  return !isScalar(value) && !(isList(value) && value.length === 0);
}

/** Visits `**key**: value` of each entry. A fragment in a record goes by its own name. */
function eachField(
  record: Section | RenderRecord,
  pad: string,
  visit: (field: string, value: RenderData) => void,
): void {
  if (record instanceof Section) {
    visit(field(record.name, record.data, pad, sectionBody), record.data);
    return;
  }
  for (const key of Object.keys(record)) {
    const value = record[key] ?? '';
    if (value instanceof Section) eachField(value, pad, visit);
    else visit(field(key, value, pad, valueBody), value);
  }
}

function field(
  name: string,
  value: RenderData,
  pad: string,
  body: (value: RenderData, pad: string) => string,
): string {
  if (typeof value === 'string') return label(name) + textAfterLabel(value, pad);
  if (isScalar(value)) return `${label(name)} ${value}`;
  return label(name) + (isList(value) && value.length === 0 ? '' : `\n${body(value, `${pad}  `)}`);
}

/** Behind its label; a text that begins with a code block begins below it. */
function textAfterLabel(text: string, pad: string): string {
  if (isLine(text)) return ` ${text}`;
  const below = `\n${pad}  `;
  const fenced = /^(?:```|~~~).*\n/.test(text);
  const lines = guarded(fenced ? text : `:${text}`, below);
  return fenced ? below + lines : ` ${lines.slice(1)}`;
}

function label(name: string): string {
  return `**${inlineText(name)}**:`;
}

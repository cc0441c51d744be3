import type { ContextFragment } from '../fragment/fragment.ts';
import { guardedLines, inlineText, titleOf } from './marks.ts';
import { arrange, isList, isScalar, joined, prepare, Section } from './renderer.ts';
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
    return prepare(fragments)
      .map(({ name, data }) => `## ${inlineText(titleOf(name))}\n${bodyOf(data, this.#grouped)}`)
      .join('\n\n');
  }
}

/** What stands below a heading. Only here are fragments grouped: deeper, a group would be one more level of bullets. */
function bodyOf(data: RenderData, grouped: boolean): string {
  return isScalar(data) ? guardedLines(String(data)).join('\n') : sectionBody(data, '', grouped);
}

/** What belongs to the fragment itself, then the fragments in it. */
function sectionBody(data: RenderData, pad: string, grouped = false): string {
  if (!isList(data)) return valueBody(data, pad);
  const { loose, groups } = arrange(data, grouped);
  const inner = [...groups].map(([name, sections]) =>
    name === '' ? items(sections, pad) : `${pad}- ${label(titleOf(name))}\n${items(sections, `${pad}  `)}`,
  );
  return [...(loose.length > 0 ? [items(loose, pad)] : []), ...inner].join('\n');
}

function valueBody(value: RenderData, pad: string): string {
  if (isList(value)) return items(value, pad);
  return isScalar(value)
    ? ''
    : fields(value, pad)
        .map((text) => `${pad}- ${text}`)
        .join('\n');
}

function items(list: readonly RenderData[], pad: string): string {
  return list.map((item) => `${pad}- ${itemText(item, pad)}`).join('\n');
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
  return guardedLines(text.trimStart()).join(`\n${pad}  `) || '""';
}

/** A record as one item: further entries stand below the first, and what belongs to an entry further in. */
function recordText(record: Section | RenderRecord, pad: string): string {
  const several = !(record instanceof Section) && Object.keys(record).length > 1;
  const texts = fields(record, several ? `${pad}  ` : pad);
  return texts.map((text, i) => (i > 0 ? `${gapAfter(texts[i - 1])}\n${pad}  ` : '') + text).join('') || '{}';
}

/** After an entry of several lines a blank one, or the next entry would read as a part of it. */
function gapAfter(entry = ''): string {
  return entry.includes('\n') ? '\n' : '';
}

/** `**key**: value` for each entry. A fragment in a record goes by its own name. */
function fields(record: Section | RenderRecord, pad: string): string[] {
  if (record instanceof Section) return [field(record.name, record.data, pad, sectionBody)];
  return Object.entries(record).flatMap(([key, value]) =>
    value instanceof Section ? fields(value, pad) : [field(key, value, pad, valueBody)],
  );
}

function field(
  name: string,
  value: RenderData,
  pad: string,
  body: (value: RenderData, pad: string) => string,
): string {
  if (isScalar(value)) return label(name) + textAfterLabel(String(value), `\n${pad}  `);
  return label(name) + (isList(value) && value.length === 0 ? '' : `\n${body(value, `${pad}  `)}`);
}

/** Behind its label; a text that begins with a code block begins below it. */
function textAfterLabel(text: string, below: string): string {
  const fenced = /^(?:```|~~~).*\n/.test(text);
  const lines = guardedLines(fenced ? text : `:${text}`).join(below);
  return fenced ? below + lines : ` ${lines.slice(1)}`;
}

function label(name: string): string {
  return `**${inlineText(name)}**:`;
}

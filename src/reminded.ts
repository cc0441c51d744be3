import type { UIMessage } from 'ai';
import { isRecord } from './errors.ts';

/**
 * Reminders in a stored message: what they added to its text, and how it reads without that.
 *
 * The text stays in the message, because the answer was given to it. A mark in the metadata says where it stands, so that it
 * can be left out for the person, in previews, in searches and in comparisons.
 */

/** A reminder as the metadata of its message keeps it, in `metadata.reminders`. */
export interface ReminderMark {
  readonly id: string;
  readonly text: string;
  readonly mode: 'inline' | 'part';
  /** The range of the reminder: in `parts[partIndex].text`, from `start` to before `end`. */
  readonly partIndex: number;
  readonly start: number;
  readonly end: number;
  /** The ids of `once()` that the reminder used up. */
  readonly onceIds?: readonly string[];
  /** In the first mark: the message's earlier metadata, in a list, where that was no record; [] where there was none. */
  readonly was?: readonly unknown[];
}

/** The marks of a message's reminders, in order. */
export function marksOf({ metadata }: UIMessage): readonly ReminderMark[] {
  const { reminders } = Object(metadata) as { reminders?: unknown };
  return Array.isArray(reminders) && reminders.every(isMark) ? reminders : [];
}

/** An app may have reminders of its own in its metadata. */
function isMark(value: unknown): value is ReminderMark {
  const { id, text, partIndex, start } = Object(value) as Record<string, unknown>;
  const types = [id, text, partIndex, start].map((one) => typeof one);
  return types.join(' ') === 'string string number number';
}

/** A reminder as it is written into a text. Closing tags in its own text are escaped, so that only ours ends it. */
export function tagged(words: string): string {
  return `<system-reminder>${words.replaceAll('</system-reminder', '<\\/system-reminder')}</system-reminder>`;
}

/**
 * The message as the person wrote it: without reminders and their marks. The same object where there are none.
 *
 * Exact, also for a message that comes back from storage. In a message that was edited since, each marked reminder is
 * removed wherever it is found; text without a mark stays.
 */
export function stripReminders<M extends UIMessage>(message: M): M {
  const marks = marksOf(message);
  const [first] = marks;
  if (!first) return message;
  const { metadata, ...rest } = message;
  const parts = marks.reduceRight(withoutMark, message.parts);
  return { ...rest, parts, ...metadataBefore(metadata as Record<string, unknown>, first) } as M;
}

type Parts = UIMessage['parts'];

/** A part that holds only its reminder is removed with it. */
function withoutMark(parts: Parts, mark: ReminderMark): Parts {
  for (const block of blocksOf(mark)) {
    const holds = (part: Parts[number] | undefined): boolean => textIn(part).includes(block);
    const at = holds(parts[mark.partIndex]) ? mark.partIndex : parts.findLastIndex(holds);
    if (at < 0) continue;
    const text = textIn(parts[at]);
    const from = text.startsWith(block, mark.start) ? mark.start : text.lastIndexOf(block);
    const left = text.slice(0, from) + text.slice(from + block.length);
    if (mark.mode === 'part' && left === '') return parts.toSpliced(at, 1);
    return parts.with(at, { ...parts[at], text: left } as Parts[number]);
  }
  return parts;
}

/** The forms of a reminder in a text: ours, and those of `@deepagents/context`: without the blank line, or without tags. */
function blocksOf({ text: words, start, end }: ReminderMark): readonly string[] {
  const block = tagged(words);
  return end - start === words.length ? [words] : start > 0 ? [`\n\n${block}`, block] : [block];
}

function textIn(part: Parts[number] | undefined): string {
  return part?.type === 'text' ? part.text : '';
}

function metadataBefore(metadata: Record<string, unknown>, { was }: ReminderMark): { metadata?: unknown } {
  const { reminders: _reminders, ...kept } = metadata;
  if (!was) return { metadata: kept };
  const [before] = was;
  if (Object.keys(kept).length === 0) return was.length === 0 ? {} : { metadata: before };
  return { metadata: isRecord(before) ? { ...before, ...kept } : kept };
}

/** The texts of a message as the person wrote them, in order. */
export function textsOf(message: UIMessage): string[] {
  return stripReminders(message).parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
}

/** The same, joined by a space. */
export function textOf(message: UIMessage): string {
  return textsOf(message).join(' ');
}

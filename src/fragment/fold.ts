import type { UIMessage } from 'ai';
import { FOLD, type ContextFragment } from './fragment.ts';

/**
 * Where reminders meet messages.
 *
 * A reminder is a fragment that shows nothing in the system prompt and has something to say with a user's message
 * instead. The engine must not carry the code of reminders for those who use none, so all it knows is this: some
 * fragments hold a {@link Fold} under {@link FOLD}, and each of them may give the message back changed.
 *
 * What was folded in stays in the stored message, because the answer was given to it. The message's metadata keeps a
 * mark for each, so that it can be taken out again: for the person, who wants to see what the person wrote, and for the
 * engine, to which a message is the same with and without its reminders.
 */

/** What a reminder may look at. Everything is as of before the message is sent. */
export interface FoldContext {
  /** The number of this user message on its branch: 1 for the first. */
  readonly turn: number;
  /** The messages before this one on its branch, oldest first. */
  readonly messages: readonly UIMessage[];
  /** What the chat has used so far, in tokens, by the AI SDK's names: `totalTokens`, `inputTokens`. */
  readonly usage?: Readonly<Record<string, unknown>> | undefined;
  /** Milliseconds since the message before this one was begun; undefined for a first message. */
  readonly elapsedMs?: number | undefined;
  /** Hears of reminders that failed. Default: a warning on the console. */
  readonly report?: ((error: unknown) => void) | undefined;
}

/** Gives a message with something folded in, or the same object. Never rejects. */
type Fold = (message: UIMessage, context: FoldContext) => Promise<UIMessage>;

/** A fragment with something for a user message. */
export interface FoldingFragment extends ContextFragment {
  readonly [FOLD]: Fold;
}

/** Whether a fragment has something for a user message. */
export function isFolding(fragment: ContextFragment): fragment is FoldingFragment {
  return FOLD in fragment;
}

/** The message with all that the fragments fold into it, in their order; the same object where that is nothing. */
export async function foldInto(
  message: UIMessage,
  fragments: readonly ContextFragment[],
  context: FoldContext,
): Promise<UIMessage> {
  let folded = message;
  for (const fragment of fragments.filter(isFolding)) folded = await fragment[FOLD](folded, context);
  return folded;
}

/** A reminder as the metadata of its message keeps it, in `metadata.reminders`. */
export interface ReminderMark {
  readonly id: string;
  readonly text: string;
  readonly mode: 'inline' | 'part';
  /** Where it stands: in `parts[partIndex].text`, from `start` to before `end`. */
  readonly partIndex: number;
  readonly start: number;
  readonly end: number;
  /** The ids that it used up. */
  readonly onceIds?: readonly string[];
  /** In the first mark: the message's metadata from before, in a list, where it was no record; [] for none. */
  readonly was?: readonly unknown[];
}

/** The reminders that a message carries, in their order. */
export function marksOf({ metadata }: UIMessage): readonly ReminderMark[] {
  const { reminders } = Object(metadata) as { reminders?: unknown };
  return Array.isArray(reminders) && reminders.every(isMark) ? reminders : [];
}

/** An app may have reminders of its own in its metadata. */
function isMark(value: unknown): value is ReminderMark {
  const { id, text, partIndex, start } = Object(value) as Record<string, unknown>;
  const names = [id, text].every((name) => typeof name === 'string');
  return names && [partIndex, start].every((place) => typeof place === 'number');
}

/** A reminder as it stands in a text. The words may quote somebody: they end where we end them. */
export function tagged(words: string): string {
  return `<system-reminder>${words.replaceAll('</system-reminder', '<\\/system-reminder')}</system-reminder>`;
}

/**
 * The message as the person wrote it: without reminders and their marks. The same object where there are none.
 *
 * Exact, also for a message that comes back from storage. In one that was edited since, what is found of a reminder is
 * taken out, wherever it stands now; a text that no mark tells of stays.
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

function withoutMark(parts: Parts, mark: ReminderMark): Parts {
  const [block = '', at = -1] = placeOf(parts, mark) ?? [];
  if (at < 0) return parts;
  if (mark.mode === 'part') return parts.toSpliced(at, 1);
  const text = textIn(parts[at]);
  const from = text.startsWith(block, mark.start) ? mark.start : text.lastIndexOf(block);
  const without = text.slice(0, from) + text.slice(from + block.length);
  return parts.with(at, { ...parts[at], text: without } as Parts[number]);
}

/** What of a reminder is there, and in which part. */
function placeOf(parts: Parts, mark: ReminderMark): readonly [block: string, at: number] | undefined {
  for (const block of blocksOf(mark)) {
    const holds = (part: Parts[number] | undefined): boolean =>
      mark.mode === 'part' ? textIn(part) === block : textIn(part).includes(block);
    const at = holds(parts[mark.partIndex]) ? mark.partIndex : parts.findLastIndex(holds);
    if (at >= 0) return [block, at];
  }
  return undefined;
}

/** How it may stand there: as we write it, and as `@deepagents/context` did, without a line between or without tags. */
function blocksOf({ text: words, start, end }: ReminderMark): readonly string[] {
  const block = tagged(words);
  return end - start === words.length ? [words] : start > 0 ? [`\n\n${block}`, block] : [block];
}

function textIn(part: Parts[number] | undefined): string {
  return part?.type === 'text' ? part.text : '';
}

function metadataBefore(
  { reminders: _reminders, ...kept }: Record<string, unknown>,
  { was }: ReminderMark,
): { metadata?: unknown } {
  if (!was) return { metadata: kept };
  const [before] = was;
  if (Object.keys(kept).length === 0) return was.length === 0 ? {} : { metadata: before };
  return { metadata: isRecord(before) ? { ...before, ...kept } : kept };
}

/** What the metadata of a message was, if a mark in it could not be taken out again without knowing. */
export function metadataToKeep(message: UIMessage): { was?: readonly unknown[] } {
  const { metadata } = message;
  if (marksOf(message).length > 0) return {};
  if (metadata === undefined) return { was: [] };
  return isRecord(metadata) && !('reminders' in metadata) ? {} : { was: [metadata] };
}

/** Whether a value is an object other than null and lists. Here, too: reminders come without the rest of fragments. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import type { UIMessage } from 'ai';
import { ContextError } from './errors.ts';
import { FOLD, type FoldContext, type FoldingFragment } from './fragment/fold.ts';
import { createId } from './fragment/id.ts';

/**
 * Reminders: a word in the model's ear, in the right turn.
 *
 * Instructions at the top of a long conversation fade. A reminder travels with the user's message instead, where the
 * model reads it last, and only when its predicate says so: every fifth turn, once after a tool was used, when the
 * budget runs low. It becomes a part of the stored message, because the answer was given to it; the message's metadata
 * keeps where it stands, so that {@link stripReminders} can show the person only what the person wrote.
 *
 * Predicates are plain functions of what is known before the message is sent. One that throws does not fire, and is
 * reported: a wrong reminder must never cost a turn.
 */

/** What predicates and reminder functions are given: the turn, the messages before it, and this message. */
export interface ReminderContext extends FoldContext {
  /** The message that the reminder would go with. */
  readonly message: UIMessage;
  /** Its text. */
  readonly text: string;
}

/** Decides whether a reminder goes with a message. */
export interface ReminderPredicate {
  (context: ReminderContext): boolean;
  /** Ids that are used up when a reminder with this predicate fires; see {@link once}. */
  readonly onceIds?: readonly string[];
}

/** Options of {@link reminder}. */
export interface ReminderOptions {
  /** When it fires. Default: in every turn. */
  readonly when?: ReminderPredicate;
  /** The message it goes with. */
  readonly target?: 'user';
  /** As a part of its own, instead of at the end of the last text. Default false. */
  readonly asPart?: boolean;
}

/** A reminder as the metadata of its message keeps it. */
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
}

/**
 * A fragment for `engine.set()`: goes with the user's messages, never into the system prompt, and is not persisted.
 *
 * @param text what it says, or a function of the turn that does; nothing or an empty text does not fire
 * @throws invalid-options for an empty text or an unknown target
 */
export function reminder(
  text: string | ((context: ReminderContext) => string | undefined | Promise<string | undefined>),
  { when = () => true, target = 'user', asPart = false }: ReminderOptions = {},
): FoldingFragment {
  if (typeof text === 'string' && text.trim() === '')
    throw new ContextError('invalid-options', 'Reminder text must not be empty');
  if (target !== 'user')
    throw new ContextError('invalid-options', `Unsupported reminder target: ${String(target)}`);
  const speak = async (context: ReminderContext): Promise<UIMessage> => {
    const words = when(context) ? await (typeof text === 'string' ? text : text(context)) : '';
    return words ? withReminder(context.message, words, asPart, when.onceIds) : context.message;
  };
  return {
    name: 'reminder',
    data: null,
    persist: false,
    [FOLD]: (message, context) =>
      speak({ ...context, message, text: textOf(message) }).catch((cause: unknown) =>
        complain(message, context, cause),
      ),
  };
}

/** The message with those of the fragments' reminders that fire; the same object where none does. */
export { foldInto as applyReminders } from './fragment/fold.ts';

/** The message as the person wrote it: without reminders and their marks. The same object where there are none. */
export function stripReminders<M extends UIMessage>(message: M): M {
  const marks = marksOf(message);
  if (marks.length === 0) return message;
  const parts = message.parts.flatMap((part, index): UIMessage['parts'] => {
    const here = marks.filter((mark) => mark.partIndex === index);
    if (here.some((mark) => mark.mode === 'part')) return [];
    return part.type === 'text' ? [{ ...part, text: withoutMarks(part.text, here) }] : [part];
  });
  const { metadata, ...rest } = message;
  const kept = Object.entries(metadata as object).filter(([key]) => key !== 'reminders');
  return { ...rest, parts, ...(kept.length > 0 && { metadata: Object.fromEntries(kept) }) } as M;
}

/** Last mark first, so that the places of the others stay true. */
function withoutMarks(text: string, marks: readonly ReminderMark[]): string {
  const fromTheEnd = marks.toSorted((a, b) => b.start - a.start);
  return fromTheEnd.reduce((kept, { start, end }) => kept.slice(0, start) + kept.slice(end), text);
}

/** The reminders that a message carries, in their order. */
function marksOf({ metadata }: UIMessage): readonly ReminderMark[] {
  const { reminders } = Object(metadata) as { reminders?: unknown };
  return Array.isArray(reminders) ? (reminders as ReminderMark[]) : [];
}

/** The message with the words at the end of its last text, or in a part of their own. */
function withReminder(
  message: UIMessage,
  words: string,
  asPart: boolean,
  onceIds: readonly string[] = [],
): UIMessage {
  const parts = [...message.parts];
  // The words may quote somebody. They end where we end them.
  const tagged = `<system-reminder>${words.replaceAll('</system-reminder', '<\\/system-reminder')}</system-reminder>`;
  const last = asPart ? -1 : parts.findLastIndex((part) => part.type === 'text');
  const part = parts[last];
  const mode = part?.type === 'text' ? 'inline' : 'part';
  const before = part?.type === 'text' ? part.text : '';
  const text = before === '' ? tagged : `${before}\n\n${tagged}`;
  const partIndex = mode === 'inline' ? last : parts.length;
  parts[partIndex] = part?.type === 'text' ? { ...part, text } : { type: 'text', text };
  const mark: ReminderMark = {
    id: createId(),
    text: words,
    mode,
    partIndex,
    start: before.length,
    end: text.length,
    ...(onceIds.length > 0 && { onceIds }),
  };
  return {
    ...message,
    parts,
    metadata: { ...Object(message.metadata), reminders: [...marksOf(message), mark] },
  };
}

function complain(message: UIMessage, { report = console.warn }: FoldContext, cause: unknown): UIMessage {
  const reason = cause instanceof Error ? cause.message : String(cause);
  report(
    new ContextError('invalid-fragment', `A reminder failed and was left out of the turn: ${reason}`, {
      cause,
    }),
  );
  return message;
}

/** In every n-th turn: the n-th, the 2n-th. */
export function everyNTurns(n: number): ReminderPredicate {
  return ({ turn }) => turn % n === 0;
}

/** In the first turn. */
export function first(): ReminderPredicate {
  return firstN(1);
}

/** In the first n turns. */
export function firstN(n: number): ReminderPredicate {
  return ({ turn }) => turn <= n;
}

/** In all turns after the n-th. */
export function afterTurn(n: number): ReminderPredicate {
  return ({ turn }) => turn > n;
}

/**
 * Until a reminder with this id has gone with a message of the branch; also after a reload, because messages keep it.
 *
 * @throws invalid-options for an empty id
 */
export function once(id: string): ReminderPredicate {
  if (!id) throw new ContextError('invalid-options', 'once(id) requires a non-empty id');
  const used = (message: UIMessage): boolean =>
    marksOf(message).some(({ onceIds = [] }) => onceIds.includes(id));
  return Object.assign(({ messages, message }: ReminderContext) => ![...messages, message].some(used), {
    onceIds: [id],
  });
}

/** When all of them would fire. */
export function and(...predicates: readonly ReminderPredicate[]): ReminderPredicate {
  return withIds(predicates, (context) => predicates.every((predicate) => predicate(context)));
}

/** When one of them would fire. */
export function or(...predicates: readonly ReminderPredicate[]): ReminderPredicate {
  return withIds(predicates, (context) => predicates.some((predicate) => predicate(context)));
}

/** When it would not fire. */
export function not(predicate: ReminderPredicate): ReminderPredicate {
  return (context) => !predicate(context);
}

function withIds(
  predicates: readonly ReminderPredicate[],
  decide: (context: ReminderContext) => boolean,
): ReminderPredicate {
  return Object.assign(decide, { onceIds: predicates.flatMap(({ onceIds = [] }) => onceIds) });
}

/** When more than this many milliseconds have passed since the message before. */
export function elapsedExceeds(ms: number): ReminderPredicate {
  return ({ elapsedMs = 0 }) => elapsedMs > ms;
}

/** When the chat has used more than this many tokens in total, or of one kind: `{ outputTokens: 50_000 }`. */
export function usageExceeds(limit: number | Readonly<Record<string, number>>): ReminderPredicate {
  const limits = Object.entries(typeof limit === 'number' ? { totalTokens: limit } : limit);
  return ({ usage = {} }) => limits.some(([kind, most]) => Number(usage[kind] ?? 0) > most);
}

/** When the message contains one of the texts, in upper or lower case. */
export function contentIncludes(...texts: readonly string[]): ReminderPredicate {
  const wanted = texts.map((text) => text.toLowerCase());
  return ({ text }) => wanted.some((one) => text.toLowerCase().includes(one));
}

/** When the message matches. */
export function contentMatches(pattern: RegExp): ReminderPredicate {
  return ({ text }) => text.search(pattern) >= 0;
}

/** When the answer before this message called the tool, or any tool where none is named. */
export function toolCalled(name?: string): ReminderPredicate {
  return ({ messages }) => {
    const answer = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
    const called = answer.flatMap(({ parts }) => parts).flatMap(toolNameOf);
    return name === undefined ? called.length > 0 : called.includes(name);
  };
}

function toolNameOf(part: UIMessage['parts'][number]): string[] {
  if (part.type === 'dynamic-tool') return [part.toolName];
  return part.type.startsWith('tool-') ? [part.type.slice('tool-'.length)] : [];
}

function textOf(message: UIMessage): string {
  return stripReminders(message)
    .parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n');
}

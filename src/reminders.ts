import type { TextUIPart, UIMessage } from 'ai';
import { ContextError, isRecord, readFrom, reasonOf } from './errors.ts';
import type { FoldContext, FoldingFragment } from './fragment/fold.ts';
import { FOLD } from './fragment/fragment.ts';
import { createId } from './fragment/id.ts';
import { marksOf, tagged, textsOf, type ReminderMark } from './reminded.ts';

/**
 * Reminders: text for the model that is added to a user message, in the turns that a predicate chooses. Models read that last,
 * and lose sight of what stands at the top. It is stored with the message, because the answer was given to both; the message's
 * metadata records its place, so that {@link stripReminders} can show the person only what the person wrote.
 *
 * Predicates are plain functions of what is known before the message is sent. A reminder that throws is left out and reported:
 * it must never cost a turn.
 */

/** The argument of predicates and reminder functions: the turn, the messages before it, and this message. */
export interface ReminderContext extends FoldContext {
  /** The message to which the reminder would be added. */
  readonly message: UIMessage;
  /** Its text. */
  readonly text: string;
}

/** Decides whether a reminder is added to a message. */
export interface ReminderPredicate {
  (context: ReminderContext): boolean;
  /** Ids that are used up when a reminder with this predicate fires; see {@link once}. */
  readonly onceIds?: readonly string[];
}

/** Options of {@link reminder}. */
export interface ReminderOptions {
  /** When it is added. Default: in every turn. */
  readonly when?: ReminderPredicate;
  /** The kind of message that it is added to. */
  readonly target?: 'user';
  /** As a part of its own, instead of at the end of the last text. Default false. */
  readonly asPart?: boolean;
}

/**
 * A fragment for `engine.set()`: it is added to the user's messages, never to the system prompt, and is not persisted.
 * @param text its text, or a function of the turn that returns it; without a text it is not added
 * @throws invalid-options for an empty text or an unknown target
 */
export function reminder(
  text: string | ((context: ReminderContext) => string | undefined | Promise<string | undefined>),
  options?: ReminderOptions,
): FoldingFragment {
  const own = readFrom('The options of reminder()', (): ReminderOptions => ({ ...options }));
  const { when = always, target = 'user', asPart = false } = own;
  if (typeof text === 'string' ? text.trim() === '' : typeof text !== 'function')
    refuse('Reminder text must not be empty');
  if (target !== 'user') refuse(`Unsupported reminder target: ${reasonOf(target)}`);
  expectPredicates('reminder', [when]);
  const speak = async (context: ReminderContext): Promise<UIMessage> => {
    if (!holds(when, context)) return context.message;
    const words: unknown = (await (typeof text === 'string' ? text : inTime(text(context)))) ?? '';
    if (typeof words !== 'string') throw new Error(`it gave a ${typeof words}, which is no text`);
    return words.trim() === '' ? context.message : withReminder(context.message, words, asPart, when.onceIds);
  };
  return {
    name: 'reminder',
    data: null,
    persist: false,
    // Renders nothing; devtools show it in the list of fragments.
    codec: {
      encode: () => ({ type: 'reminder', text: typeof text === 'string' ? text : '[lazy]', asPart }),
      decode: () => null,
    },
    [FOLD]: (message, context) =>
      speak({ ...context, message, text: textsOf(message).join('\n') }).catch((cause: unknown) => {
        const complaint = `A reminder failed and was left out of the turn: ${reasonOf(cause)}`;
        (context.report ?? console.warn)(new ContextError('invalid-fragment', complaint, { cause }));
        return message;
      }),
  };
}

const always: ReminderPredicate = () => true;

/** The result of a predicate. Throws for a promise, which would always be truthy. */
function holds(predicate: ReminderPredicate, context: ReminderContext): boolean {
  const answer: unknown = predicate(context);
  if (answer instanceof Promise) {
    answer.catch(() => undefined);
    throw new Error('its predicate gave a promise, and must answer at once');
  }
  return Boolean(answer);
}

/** How long a turn waits for a reminder's text, in ms. */
const PATIENCE = 10_000;

/** Rejects after {@link PATIENCE}: a hanging reminder must not keep the user's message from being sent. */
function inTime<T>(coming: T | PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`no words came in ${PATIENCE} ms`)), PATIENCE);
    Promise.resolve(coming)
      .then(resolve, reject)
      .finally(() => clearTimeout(late));
  });
}

/** The message with those of the fragments' reminders that fire; the same object where none does. */
export { foldInto as applyReminders } from './fragment/fold.ts';
export type { FoldContext, FoldingFragment } from './fragment/fold.ts';
export { stripReminders } from './reminded.ts';
export type { ReminderMark } from './reminded.ts';

/** The message with the text at the end of its last text, or in a part of its own. */
function withReminder(message: UIMessage, words: string, asPart: boolean, onceIds: readonly string[] = []) {
  const { metadata } = message;
  const marks = marksOf(message);
  // Of other metadata, removing the marks alone would not restore what was there.
  const isPlain = isRecord(metadata) && !('reminders' in metadata);
  const parts = [...message.parts];
  const last = asPart ? -1 : parts.findLastIndex((part) => part.type === 'text');
  const part: TextUIPart = { type: 'text', text: '', ...(parts[last] as TextUIPart | undefined) };
  const text = part.text === '' ? tagged(words) : `${part.text}\n\n${tagged(words)}`;
  const partIndex = last < 0 ? parts.length : last;
  parts[partIndex] = { ...part, text };
  const range = { partIndex, start: part.text.length, end: text.length };
  const mark: ReminderMark = {
    id: createId(),
    text: words,
    mode: last < 0 ? 'part' : 'inline',
    ...range,
    ...(onceIds.length > 0 && { onceIds }),
    ...(marks.length === 0 && !isPlain && { was: metadata === undefined ? [] : [metadata] }),
  };
  const kept = isRecord(metadata) ? metadata : {};
  return { ...message, parts, metadata: { ...kept, reminders: [...marks, mark] } };
}

/** In every n-th turn: the n-th, the 2n-th. As all that take a number, throws `invalid-options` for another or too small value. */
export function everyNTurns(n: number): ReminderPredicate {
  expectNumber('everyNTurns', n, 1);
  return ({ turn }) => turn % n === 0;
}

/** In the first turn. */
export function first(): ReminderPredicate {
  return firstN(1);
}

/** In the first n turns. */
export function firstN(n: number): ReminderPredicate {
  expectNumber('firstN', n);
  return ({ turn }) => turn <= n;
}

/** In all turns after the n-th. */
export function afterTurn(n: number): ReminderPredicate {
  expectNumber('afterTurn', n);
  return ({ turn }) => turn > n;
}

function expectNumber(predicate: string, n: number, least: number = 0): void {
  if (!(typeof n === 'number' && n >= least))
    refuse(`${predicate}(${reasonOf(n)}) needs a number of at least ${least}`);
}

function expectPredicates(whose: string, predicates: readonly ReminderPredicate[]): void {
  const wrong = predicates.findIndex((predicate) => typeof predicate !== 'function');
  if (wrong >= 0) refuse(`${whose}(${reasonOf(predicates[wrong])}) needs predicates, such as everyNTurns(3)`);
}

function refuse(message: string): never {
  throw new ContextError('invalid-options', message);
}

/** Until a reminder with this id was added on the branch, reloads included. Throws `invalid-options` for an empty id. */
export function once(id: string): ReminderPredicate {
  if (!id) refuse('once(id) requires a non-empty id');
  const isUnused = ({ messages, message }: ReminderContext): boolean =>
    ![...messages, message].flatMap(marksOf).some(({ onceIds = [] }) => onceIds.includes(id));
  return Object.assign(isUnused, { onceIds: [id] });
}

/** When all of the predicates hold. */
export function and(...predicates: readonly ReminderPredicate[]): ReminderPredicate {
  return combined('and', 'every', predicates);
}

/** When one of the predicates holds. */
export function or(...predicates: readonly ReminderPredicate[]): ReminderPredicate {
  return combined('or', 'some', predicates);
}

/** When the predicate does not hold. */
export function not(predicate: ReminderPredicate): ReminderPredicate {
  expectPredicates('not', [predicate]);
  return (context) => !holds(predicate, context);
}

function combined(how: string, of: 'every' | 'some', all: readonly ReminderPredicate[]): ReminderPredicate {
  expectPredicates(how, all);
  const onceIds = readFrom(`A predicate of ${how}()`, () => all.flatMap((one) => one.onceIds ?? []));
  const decide = (context: ReminderContext): boolean => all[of]((one) => holds(one, context));
  return Object.assign(decide, { onceIds });
}

/** When more than this many milliseconds have passed since the message before was begun. */
export function elapsedExceeds(ms: number): ReminderPredicate {
  expectNumber('elapsedExceeds', ms);
  return ({ elapsedMs = 0 }) => elapsedMs > ms;
}

/** When the chat has used more than this many tokens in total, or of one kind: `{ outputTokens: 50_000 }`. */
export function usageExceeds(limit: number | Readonly<Record<string, number>>): ReminderPredicate {
  const limits = readFrom('The limit of usageExceeds()', () =>
    Object.entries(isRecord(limit) ? limit : { totalTokens: limit }),
  );
  for (const [, most] of limits) expectNumber('usageExceeds', most);
  return ({ usage = {} }) => limits.some(([kind, most]) => Number(usage[kind] ?? 0) > most);
}

/** When the message contains one of the texts, ignoring case. Throws `invalid-options` for a value that is no text. */
export function contentIncludes(...texts: readonly string[]): ReminderPredicate {
  for (const text of texts)
    if (typeof text !== 'string') refuse(`contentIncludes(${reasonOf(text)}) needs texts`);
  const wanted = texts.map((text) => text.toLowerCase());
  return ({ text }) => wanted.some((one) => text.toLowerCase().includes(one));
}

/** When the message matches. Throws `invalid-options` for a value that is no regular expression. */
export function contentMatches(pattern: RegExp): ReminderPredicate {
  if (!readFrom('The pattern of contentMatches()', () => pattern instanceof RegExp))
    refuse(`contentMatches(${reasonOf(pattern)}) needs a regular expression`);
  return ({ text }) => text.search(pattern) >= 0;
}

/** When the answer before this message called the tool, or any tool if none is named. */
export function toolCalled(name?: string): ReminderPredicate {
  return ({ messages }) => {
    const answer = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
    const parts = answer.flatMap((message) => message.parts) as { type: string; toolName?: string }[];
    return parts.some(({ type, toolName = type.replace(/^tool-/, '') }) => {
      const isCall = type === 'dynamic-tool' || type.startsWith('tool-');
      return isCall && (name === undefined || toolName === name);
    });
  };
}

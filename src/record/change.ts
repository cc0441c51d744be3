import type { UIMessage } from 'ai';
import type { RecordedRequest } from './record.ts';
import { isSame, jsonOf, messageSection, systemSections, toolSections, type Section } from './sections.ts';

/** What makes a provider read a prompt again. */
export type CacheCause =
  | 'fragment text'
  | 'clock value'
  | 'fragment added'
  | 'fragment removed'
  | 'fragments reordered'
  | 'renderer'
  | 'tool added'
  | 'tool removed'
  | 'tool changed'
  | 'tools reordered'
  | 'message edited'
  | 'message added'
  | 'history cut'
  | 'model switch'
  | 'expired'
  | 'provider miss'
  | 'not visible';

/** The first section in which a prompt differs from an earlier one. */
export interface Change {
  readonly cause: CacheCause;
  /** The common beginning: how many tools and fragments, and how many messages behind them. */
  readonly alike: { readonly head: number; readonly messages: number };
  /** The changed section; absent where it was added. */
  readonly before?: Section | undefined;
  /** The same, as it is now; absent where it was removed. */
  readonly after?: Section | undefined;
}

/** The first change; undefined where the earlier prompt is the beginning of this one. */
export function changeBetween(before: RecordedRequest, now: RecordedRequest): Change | undefined {
  const [old, own] = headsOf(before, now);
  let head = 0;
  while (head < old.length && isSame(old[head], own[head])) head += 1;
  if (head < Math.max(old.length, own.length)) {
    const change = headChange(old.slice(head), own.slice(head));
    const kind = (change.after ?? change.before)?.kind;
    const isRenderer = kind === 'fragment' && before.renderer !== now.renderer;
    return { ...change, alike: { head, messages: 0 }, ...(isRenderer && { cause: 'renderer' }) };
  }
  const messages = messagesAlike(before.messages, now.messages);
  // The whole earlier prompt is here. A prompt that only ends sooner was read, too.
  if (messages === before.messages.length || messages === now.messages.length) return undefined;
  const change = messageChange(before.messages.slice(messages), now.messages.slice(messages));
  return { ...change, alike: { head, messages } };
}

/** The sections of tools and fragments; tools only where both transports reported them. */
export function headsOf(
  before: RecordedRequest,
  now: RecordedRequest,
): readonly [readonly Section[], readonly Section[]] {
  const seesTools = before.told.tools !== undefined && now.told.tools !== undefined;
  const headOf = (one: RecordedRequest): readonly Section[] => [
    ...(seesTools ? toolSections(one) : []),
    ...systemSections(one),
  ];
  return [headOf(before), headOf(now)];
}

type Messages = readonly UIMessage[];

/** How many messages both begin with. The last one may have grown: an answer continues behind a tool result. */
function messagesAlike(old: Messages, own: Messages): number {
  let at = 0;
  while (at < old.length && beginsWith(own[at], old[at], at < old.length - 1)) at += 1;
  return at;
}

/** Most messages are the very same objects. */
function beginsWith(now: UIMessage | undefined, before: UIMessage | undefined, isWhole: boolean): boolean {
  if (now === before) return true;
  if (!now || !before || now.role !== before.role || now.parts.length < before.parts.length) return false;
  if (isWhole && now.parts.length !== before.parts.length) return false;
  return before.parts.every((part, i) => part === now.parts[i] || jsonOf(part) === jsonOf(now.parts[i]));
}

type Found = Omit<Change, 'alike'>;

function headChange(old: readonly Section[], own: readonly Section[]): Found {
  // Where the sections are of two kinds, the first kind has ended on one side.
  const kind = [old[0], own[0]].some((one) => one?.kind === 'tool') ? 'tool' : 'fragment';
  const gone = old.filter((one) => one.kind === kind);
  const come = own.filter((one) => one.kind === kind);
  const [before, after] = [gone[0], come[0]];
  const stays = before !== undefined && come.some((one) => isSame(one, before));
  const was = after !== undefined && gone.some((one) => isSame(one, after));
  if (stays && was) return { cause: `${kind}s reordered`, before, after };
  if (before && (!after || (!stays && (was || before.id !== after.id))))
    return { cause: `${kind} removed`, before };
  if (stays || !before || !after) return { cause: `${kind} added`, after };
  if (kind === 'tool') return { cause: 'tool changed', before, after };
  return { cause: isClock(before.text, after.text) ? 'clock value' : 'fragment text', before, after };
}

function messageChange(old: Messages, own: Messages): Found {
  const [gone, come, next] = [old[0], own[0], own[1]] as [UIMessage, UIMessage, UIMessage | undefined];
  const [before, after] = [messageSection(gone), messageSection(come)];
  const was = new Set(old.map(({ id }) => id));
  const isInserted = own.some(({ id }) => id === gone.id);
  if (gone.id === come.id) return { cause: 'message edited', before, after };
  if (isInserted) return { cause: 'message added', after };
  // Later messages have moved up, or one new message replaces several.
  const isCut = was.has(come.id) || (next !== undefined && was.has(next.id) && old[1]?.id !== next.id);
  return isCut ? { cause: 'history cut', before } : { cause: 'message edited', before, after };
}

/** Whether two texts differ in dates and times alone. */
function isClock(a: string, b: string): boolean {
  const [plain, other] = [a.replace(CLOCK, '·'), b.replace(CLOCK, '·')];
  return plain === other && plain !== a;
}

const MONTHS =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const DAYS = '(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tue|wed|thu|fri|sat|sun';

/** Dates, times, names of days and months, and counts of seconds or milliseconds since 1970. */
const CLOCK = new RegExp(
  [
    String.raw`\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?`,
    String.raw`\d{1,2}[/.]\d{1,2}[/.]\d{2,4}`,
    String.raw`\b\d{1,2}:\d\d(?::\d\d)?(?:\s?[ap]\.?m\b\.?)?`,
    String.raw`\b1[5-9]\d{8}(?:\d{3})?\b`,
    String.raw`\b(?:${MONTHS})\.?\s\d{1,2}(?:st|nd|rd|th)?(?:,?\s\d{4})?\b`,
    String.raw`\b\d{1,2}\.?\s(?:${MONTHS})\.?(?:\s\d{4})?\b`,
    String.raw`\b(?:${DAYS})\b`,
  ].join('|'),
  'gi',
);

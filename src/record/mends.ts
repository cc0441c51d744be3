import type { CacheCause } from './change.ts';
import type { CacheVerdict } from './explainCache.ts';

const LATER = 'Put what changes behind what stays: set it last, or mount its component last.';
const TOOLS =
  'Hand over the same tools in the same order each time; hold a call back by `toolChoice` instead.';

/** The advice for a cause. */
export const MENDS: Readonly<Partial<Record<CacheCause, string>>> = {
  'fragment text': LATER,
  'clock value':
    'Move the time to the end: into a reminder, or into the last fragment. A day in place of a second changes once a day.',
  'fragment added': `${LATER} What is always there breaks nothing.`,
  'fragment removed': `${LATER} What is always there breaks nothing.`,
  'fragments reordered':
    'Give the fragments one order: one `set()` at the start, or components that stay mounted.',
  renderer: 'Render with one renderer for the whole chat.',
  'tool added': TOOLS,
  'tool removed': TOOLS,
  'tool changed':
    'Keep descriptions and schemas of tools free of what changes: dates, lists, names of users.',
  'tools reordered': TOOLS,
  'message edited':
    'Leave earlier messages as they were sent. What changes with each request (a signed address, a time) does not belong in them.',
  'message added': 'Add messages at the end.',
  'history cut': 'Cut seldom and much, to half of what fits, and not one message with each turn.',
  'model switch': 'Each model has a cache of its own: switch where a chat begins, or on a short branch.',
  expired: 'Where pauses are common, ask the provider for cache entries that live longer.',
  'not visible': 'Look at what the server adds: its tools, its own system prompt, their order.',
};

/** What happened, as a sentence. */
export function wordsFor(verdict: Omit<CacheVerdict, 'why' | 'mend'>): string {
  const { state, cause } = verdict;
  const what = cause && causeInWords(verdict, cause);
  const tools = verdict.seesTools ? '' : ' The tools are not visible from the browser.';
  if (state === 'too short')
    return `The prompt is shorter than what providers keep (1,024 tokens).${what ? ` ${what}` : ''}`;
  if (state === 'unchanged')
    return `Nothing that the browser sees changed, and nobody told what was served.${tools}`;
  if (state === 'kept') return `The provider served what it had read before.${what ? ` ${what}` : ''}`;
  return `${what}${verdict.seesTools || cause === 'not visible' ? '' : tools}`;
}

function causeInWords(
  { section, component }: Pick<CacheVerdict, 'section' | 'component'>,
  cause: CacheCause,
): string {
  const by = component === undefined ? '' : ` of <${component}>`;
  const it = section ? `${section.kind} "${section.id}"${by}` : 'the prompt';
  switch (cause) {
    case 'fragment text':
    case 'tool changed':
      return `The text of the ${it} changed.`;
    case 'clock value':
      return `The ${it} holds a date or a time, and that changed.`;
    case 'fragment added':
    case 'tool added':
      return `The ${it} was added before what stayed.`;
    case 'fragment removed':
    case 'tool removed':
      return `The ${it} was taken out.`;
    case 'fragments reordered':
    case 'tools reordered':
      return `The ${it} stands in another place than before.`;
    case 'renderer':
      return 'The fragments were rendered in another format.';
    case 'message edited':
      return `The earlier ${it} says something else than before.`;
    case 'message added':
      return `The ${it} was put between earlier ones.`;
    case 'history cut':
      return `The history was cut: the ${it} is not sent any more.`;
    case 'model switch':
      return 'Another model was asked, and none of it is in its cache.';
    case 'expired':
      return 'Nothing changed. The request before is more than five minutes ago: the cache has likely expired.';
    case 'provider miss':
      return 'Nothing changed. The provider likely missed: it promises no hit.';
    case 'not visible':
      return 'Nothing that the browser sees changed. What the server adds, tools among it, is not visible from the browser.';
  }
}

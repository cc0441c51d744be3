import type { CacheCause } from './change.ts';
import type { CacheVerdict } from './explainCache.ts';

const LATER = 'Put what changes behind what stays: set it last, or mount its component last.';
const ALWAYS = `${LATER} What is always there breaks nothing.`;
const TOOLS =
  'Hand over the same tools in the same order each time; hold a call back by `toolChoice` instead.';
const ADDED = 'The {} was added before what stayed.';
const REMOVED = 'The {} was taken out.';
const MOVED = 'The {} stands in another place than before.';

/** For each cause what happened, as a sentence about the section `{}`, and what to do about it. */
const CAUSES: Readonly<Record<CacheCause, readonly [why: string, mend?: string]>> = {
  'fragment text': ['The text of the {} changed.', LATER],
  'clock value': [
    'The {} holds a date or a time, and that changed.',
    'Move the time to the end: into a reminder, or into the last fragment. A day in place of a second changes once a day.',
  ],
  'fragment added': [ADDED, ALWAYS],
  'fragment removed': [REMOVED, ALWAYS],
  'fragments reordered': [
    MOVED,
    'Give the fragments one order: one `set()` at the start, or components that stay mounted.',
  ],
  renderer: [
    'The fragments were rendered in another format.',
    'Render with one renderer for the whole chat.',
  ],
  'tool added': [ADDED, TOOLS],
  'tool removed': [REMOVED, TOOLS],
  'tool changed': [
    'The text of the {} changed.',
    'Keep descriptions and schemas of tools free of what changes: dates, lists, names of users.',
  ],
  'tools reordered': [MOVED, TOOLS],
  'message edited': [
    'The earlier {} says something else than before.',
    'Leave earlier messages as they were sent. What changes with each request (a signed address, a time) does not belong in them.',
  ],
  'message added': ['The {} was put between earlier ones.', 'Add messages at the end.'],
  'history cut': [
    'The history was cut: the {} is not sent any more.',
    'Cut seldom and much, to half of what fits, and not one message with each turn.',
  ],
  'model switch': [
    'Another model was asked, and none of it is in its cache.',
    'Each model has a cache of its own: switch where a chat begins, or on a short branch.',
  ],
  expired: [
    'Nothing changed. The request before is more than five minutes ago: the cache has likely expired.',
    'Where pauses are common, ask the provider for cache entries that live longer.',
  ],
  'provider miss': ['Nothing changed. The provider likely missed: it promises no hit.'],
  'not visible': [
    'Nothing that the browser sees changed. What the server adds, tools among it, is not visible from the browser.',
    'Look at what the server adds: its tools, its own system prompt, their order.',
  ],
};

/** What happened and what to do about it, as sentences. */
export function wordsFor(verdict: Omit<CacheVerdict, 'why' | 'mend'>): Pick<CacheVerdict, 'why' | 'mend'> {
  const { state, cause, section, component } = verdict;
  const by = component === undefined ? '' : ` of <${component}>`;
  const it = section ? `${section.kind} "${section.id}"${by}` : 'the prompt';
  const [told = '', mend] = cause ? CAUSES[cause] : [];
  const what = told.replace('{}', () => it);
  const tools =
    verdict.seesTools || cause === 'not visible' ? '' : 'The tools are not visible from the browser.';
  const said = {
    first: [],
    'too short': ['The prompt is shorter than what providers keep (1,024 tokens).', what],
    unchanged: ['Nothing that the browser sees changed, and nobody told what was served.', tools],
    kept: ['The provider served what it had read before.', what],
    broke: [what, tools],
    'may break': [what, tools],
  }[state];
  const why = said.filter(Boolean).join(' ');
  return { why, ...(mend !== undefined && state !== 'kept' && { mend }) };
}

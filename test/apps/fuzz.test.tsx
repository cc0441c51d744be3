import { beforeAll, describe, expect, it } from 'vitest';
import { loadApp, openApp } from './page.tsx';
import { done, problemsOf } from './sequence.ts';

// The person of test/ai, at the app that is plain `useChat` but for one line: they type into its box, press its buttons where
// it has them, and look at its screen. On AI SDK 7 the app is compiled by the React Compiler and runs on React's production
// build.

/** `FUZZ_SEEDS=2000`, or `npm run soak`, runs so many sequences and all of `FOUND`, `FUZZ_FIRST=17 FUZZ_SEEDS=1` repeats one. */
const isNewest = process.env['AI_SDK'] === '7';
const SEEDS = Number(process.env['FUZZ_SEEDS'] ?? (isNewest ? 100 : 10));
const FIRST = Number(process.env['FUZZ_FIRST'] ?? 0);
/** How many sequences one test runs. */
const GROUP = 50;
/**
 * Long sequences that once found a bug: a version of a continued answer that was made before its first word; an answer that was
 * found at its server while its page showed an earlier message, or had continued it itself; a list that another tab's words did
 * not reach any more; questions that were queued on a branch which merged with another.
 */
const FOUND = [680, 833, 6630, 9014, 9385, 41089, 41346, 42256, 43037, 43586, 44066, 190794];

/** All acts, by button or by their word in the log of a run. */
const BUTTONS = ['Send', 'Edit', 'Try again', 'Stop', 'Continue', 'Give', 'Approve', 'Deny'];
const PAGER = ['Previous version', 'Next version'];
/** `open`: another tab. `take`: a page that was loaded anew takes up what its server still says. */
const MOVES = ['switch', 'rewind', 'checkout', 'btw', 'reload', 'open', 'take'];
const SERVER = ['say', 'call', 'ask', 'finish', 'fail', 'break', 'drop'];
const HEARD = ['finished', 'stopped', 'call dice'];
const ERRORS = ['error Failed to fetch', 'error network error', 'error overloaded'];

describe('a person who presses every button of an app', () => {
  beforeAll(loadApp);
  beforeAll(() => done.clear());

  const groups = Array.from({ length: Math.ceil(SEEDS / GROUP) }, (_, i) => FIRST + i * GROUP);
  it.each(groups)('loses no word (from %i on)', { timeout: 60_000 }, async (first) => {
    for (let seed = first; seed < Math.min(first + GROUP, FIRST + SEEDS); seed += 1)
      expect(await problemsOf(seed), `FUZZ_FIRST=${seed} FUZZ_SEEDS=1`).toEqual([]);
  });

  it.runIf(isNewest).each(SEEDS > 100 ? FOUND : FOUND.slice(-5))(
    'loses none in 40 acts of seed %i',
    async (seed) => {
      expect(await problemsOf(seed, openApp, 40), `FUZZ_ACTS=40 FUZZ_FIRST=${seed} FUZZ_SEEDS=1`).toEqual([]);
    },
  );

  it.runIf(SEEDS >= 100)('has done all that there is, and heard of it, again and again', () => {
    const heard = [...HEARD, ...ERRORS].map((line) => `heard: ${line}`);
    const all = [...BUTTONS, ...PAGER, ...MOVES, ...SERVER, ...heard];
    expect(all.filter((what) => (done.get(what) ?? 0) < SEEDS / 100)).toEqual([]);
  });
});

import { inChromium } from './chromium.ts';
import { install, versionOf } from './installed.ts';
import { circumstances, range, report } from './results.ts';
import type { Answered, Timed } from './streamPage.ts';

/**
 * What a streamed word costs in long chats, and what an answer writes: here, and in what else people use.
 *
 * `npm run bench:peers` runs this file and keeps its section of RESULTS.md. The chats are in one page of a headless
 * Chromium and take turns; the same is measured again in a browser of its own, and where the two differ both figures
 * are told. The exit code is 1 where ours is over what is promised. `RUNS=1 ROUNDS=2` is a quick look.
 */
const RUNS = Number(process.env['RUNS'] ?? 2);
const ROUNDS = Number(process.env['ROUNDS'] ?? 8);

const SHORT = 100;
const LONG = 10_000;

/** Words of an answer, where they are timed and where they are kept. */
const TIMED_WORDS = 100;
const KEPT_WORDS = 1000;

/** Milliseconds between two words of an answer that is kept. */
const PAUSES = [0, 20];

const OURS = 'contextree, the last 200 in the list';

/** What is promised: a word in the long chat for one in the short chat, and bytes handed over for one of the answer. */
const PROMISES: Readonly<Record<string, number>> = { [OURS]: 1.2, contextree: 5 };

install('@assistant-ui/core', '@assistant-ui/store', '@tanstack/ai-client', 'assistant-cloud');

const MODULES = {
  page: './streamPage.ts',
  'assistant-ui': '@assistant-ui/core/react',
  'assistant-ui-core': '@assistant-ui/core/internal',
  'assistant-ui-store': '@assistant-ui/store',
  tanstack: '@tanstack/ai-client',
};

const broken: string[] = [];

/** The promise for a side, and whether all runs kept it. */
function promise(side: string, ratios: readonly number[]): string {
  const most = PROMISES[side];
  if (most === undefined) return '';
  const isKept = Math.max(...ratios) <= most;
  if (!isKept) broken.push(side);
  return `at most ${most}x${isKept ? '' : ': not kept'}`;
}

/** Asks the page as often as there are runs, each time in a browser of its own. */
async function runs<Told>(name: string, ...args: readonly unknown[]): Promise<Told[]> {
  const told: Told[] = [];
  for (let run = 0; run < RUNS; run += 1) told.push(await inChromium<Told>({ modules: MODULES, name, args }));
  return told;
}

/** The quickest quarter of the answers ends here: what others do on the machine only ever makes a figure worse. */
const quartile = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[times.length >> 2] ?? Number.NaN;

function timeRows(told: readonly Timed[]): string[] {
  const of = (side: string, length: number): number[] =>
    told.map((timed) => quartile(timed[side]?.[length] ?? []));
  const ratios = (a: readonly number[], b: readonly number[]): number[] =>
    a.map((value, i) => value / (b[i] ?? Number.NaN));
  return Object.keys(told[0] ?? {}).map((side) => {
    const [short, long] = [of(side, SHORT), of(side, LONG)];
    const growth = ratios(long, short);
    const cells = [
      side,
      `${range(growth, 2)}x`,
      promise(side, growth),
      `${range(ratios(long, of(OURS, LONG)), 2)}x`,
      `${range(short, 2)} / ${range(long, 2)}`,
    ];
    return `| ${cells.join(' | ')} |`;
  });
}

type Answers = Readonly<Record<string, Answered>>;

function byteRows(pause: number, told: readonly Answers[]): string[] {
  return Object.keys(told[0] ?? {}).map((side) => {
    const answers = told.flatMap((answers) => answers[side] ?? []);
    const ratios = answers.map(({ handed, own }) => handed / own);
    const kilobytes = (of: 'handed' | 'own'): string =>
      range(
        answers.map((answer) => answer[of] / 1000),
        0,
      );
    const cells = [
      side,
      pause === 0 ? 'when the last is shown' : `${pause} ms later`,
      `${range(ratios, 1)}x`,
      promise(side, ratios),
      range(
        answers.map(({ records }) => records),
        0,
      ),
      `${kilobytes('handed')} of ${kilobytes('own')}`,
    ];
    return `| ${cells.join(' | ')} |`;
  });
}

const times = timeRows(await runs<Timed>('timed', [SHORT, LONG], TIMED_WORDS, ROUNDS));
const bytes: string[] = [];
for (const pause of PAUSES)
  bytes.push(...byteRows(pause, await runs<Answers>('answered', SHORT, KEPT_WORDS, pause)));

report(`# Streaming beside peers

\`node test/bench/peers/stream.ts\` wrote this ${circumstances()}: in headless Chromium, with React's production build,
@assistant-ui/core ${versionOf('@assistant-ui/core')} and @tanstack/ai-client ${versionOf('@tanstack/ai-client')}. Messages are of 1 kB, and all chats take the same words in turns.
Everything was measured ${RUNS} times, each in a browser of its own; where the figures differ, the least and the greatest are told.

| a streamed word at ${LONG} messages against at ${SHORT} | ratio | promise | at ${LONG}, times ours | ms at ${SHORT} / at ${LONG} |
| --- | --: | --: | --: | --: |
${times.join('\n')}

The time is that of the page's main thread, from a word in the stream to the word on the page, in the quickest quarter of
${ROUNDS} answers of ${TIMED_WORDS} words (of fewer, where these take more than a second). The last twenty messages are on the page. But for the
last 200, all messages are in the list, which the AI SDK copies with each word. One JSON text is written at each change
of the messages; nobody waits for its disk.

| bytes handed to IndexedDB for an answer of ${KEPT_WORDS} words in a chat of ${SHORT} messages | a word comes | of the answer's own | promise | records | kB |
| --- | --- | --: | --: | --: | --: |
${bytes.join('\n')}

Counted at \`put\`, \`add\` and \`update\`, with keys, as JSON in UTF-8, until nothing more is written. Ours writes a draft
twice a second at most, so that slower words make more of them.
`);
if (broken.length > 0) console.error(`Over what is promised: ${broken.join('; ')}`);
process.exitCode = broken.length > 0 ? 1 : 0;

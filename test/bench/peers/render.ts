import * as ours from '../../../src/core.ts';
import { install, versionOf } from './installed.ts';
import { circumstances, range, report } from './results.ts';
import { shapes, type Builders, type Shape } from './shapes.ts';

/**
 * How long a prompt of 200 fragments takes to render, here and in @deepagents/context 0.29.1.
 *
 * `npm run bench:peers` runs this file and keeps its section of RESULTS.md. Both sides get the
 * same fragments from their own builders and take turns within one run. What is measured is the time that the thread
 * was given, so that a busy machine tells little about either; its clock may tick in milliseconds, so each figure is a
 * mean. Both texts are read once, which makes one flat text of each: a prompt is sent as bytes, so neither may leave the
 * work of joining its pieces to a later reader.
 *
 * Each prompt is rendered in two ways: by a new renderer each time, which knows nothing of it (first), and by one
 * renderer again and again, as an engine does at each turn (again). Ours keeps its last text and the data of it, up to
 * a million characters, and gives it again while the data is equal; theirs keeps nothing, so its time is the same.
 *
 * The exit code is 1 where ours is the slower one again, in any prompt; or first, in the (geometric) mean of a format's
 * prompts; or where twice the prompt takes much more than twice the time.
 */

const FORMATS = ['XmlRenderer', 'MarkdownRenderer', 'TomlRenderer', 'ToonRenderer'] as const;

/** How often everything is measured. */
const RUNS = Number(process.env['RUNS'] ?? 2);

/** Turns that count; half as many warm up. */
const TURNS = Number(process.env['TURNS'] ?? 40);

/** Milliseconds of a turn on both sides, so that a busy machine interrupts both as often. */
const TURN_MS = 20;

/** How many times as long twice the prompt may take. */
const LINEAR = 2.6;

/** Adds up what was read, so that nobody may skip the reading. */
let read = 0;

type Renderer = { render(fragments: never[]): string };
type Side = Builders & Record<(typeof FORMATS)[number], new () => Renderer>;

interface Figure {
  readonly shape: string;
  readonly format: string;
  readonly kilobytes: readonly [ours: number, theirs: number];
  /** Microseconds for one rendering by a new renderer, and by one that rendered the same before. */
  readonly first: Micros;
  readonly again: Micros;
}

type Micros = readonly [ours: number, theirs: number];

install('@deepagents/context');
// Named by a variable: the compiler need not know what is not always installed.
const entry = '@deepagents/context/browser';
const theirs = (await import(entry)) as Side;

const runs = Array.from({ length: RUNS }, () => ({
  figures: FORMATS.flatMap((format) => shapes.map((shape) => compare(shape, format))),
  growths: FORMATS.map(growthOf),
}));
const figures = runs.flatMap((run) => run.figures);
const firsts = FORMATS.map((format) => runs.map((run) => firstOf(run.figures, nameOf(format))));
const growths = FORMATS.map((_format, i) => runs.map((run) => run.growths[i] ?? Number.NaN));
const byFormat = (values: readonly (readonly number[])[]): string =>
  FORMATS.map((format, i) => `${nameOf(format)} ${range(values[i] ?? [], 2)}x`).join(', ');

report(`# Rendering beside a peer

\`node test/bench/peers/render.ts\` wrote this ${circumstances()}, with Node ${process.version}: prompts of 200 fragments, rendered by contextree
and by @deepagents/context ${versionOf('@deepagents/context')} in turns, ${TURNS} turns each. A ratio is their mean CPU time divided by ours: first, with a new
renderer for each rendering; again, with one that rendered the same prompt before, as an engine does at each turn.
Ours then compares the data with that of its last text, which it keeps (at most a million characters), and gives it again.
Everything was measured ${RUNS} times; where the figures differ, the least and the greatest are told.

${table(runs.map((run) => run.figures))}

First, in the geometric mean of a format's prompts: ${byFormat(firsts)}.

Twice the prompt takes ours so many times as long, at most ${LINEAR}x: ${byFormat(growths)}.
`);
process.exitCode =
  figures.every(({ again }) => ratioOf(again) >= 1) &&
  firsts.flat().every((ratio) => ratio >= 1) &&
  growths.flat().every((times) => times <= LINEAR)
    ? 0
    : 1;

function compare(shape: Shape, format: (typeof FORMATS)[number]): Figure {
  const sides = [ours as unknown as Side, theirs].map((side) => {
    const fragments = shape.build(side) as never[];
    const renderer = new side[format]();
    return {
      first: () => new side[format]().render(fragments),
      again: () => renderer.render(fragments),
    };
  });
  const [own, peers] = sides as [(typeof sides)[number], (typeof sides)[number]];
  return {
    shape: shape.name,
    format: nameOf(format),
    kilobytes: [own.first().length / 1000, peers.first().length / 1000],
    first: microsOf([own.first, peers.first]),
    again: microsOf([own.again, peers.again]),
  };
}

/** The mean for each side; they take turns. */
function microsOf(sides: readonly [() => string, () => string]): Micros {
  const repeats = sides.map(repeatsOf) as [number, number];
  const times: [number[], number[]] = [[], []];
  for (let turn = 0; turn < 1.5 * TURNS; turn++)
    for (const side of [0, 1] as const) {
      const took = time(sides[side], repeats[side]) / repeats[side];
      if (turn >= TURNS / 2) times[side].push(took * 1000);
    }
  return [mean(times[0]), mean(times[1])];
}

/** Their time for one of ours, above 1 where we are faster. */
function ratioOf([own, peers]: Micros): number {
  return peers / own;
}

/** Of all prompts in a format, each counting the same. */
function firstOf(figures: readonly Figure[], format: string): number {
  const logarithms = figures
    .filter((figure) => figure.format === format)
    .map(({ first }) => Math.log(ratioOf(first)));
  return Math.exp(mean(logarithms));
}

function nameOf(format: (typeof FORMATS)[number]): string {
  return format.replace('Renderer', '');
}

/** Ours alone: the time for all shapes in one prompt, twice over, by the time for it once. */
function growthOf(format: (typeof FORMATS)[number]): number {
  const once = shapes.flatMap((shape) => shape.build(ours as unknown as Side)) as never[];
  const again = shapes.flatMap((shape) => shape.build(ours as unknown as Side)) as never[];
  const sizes = [once, [...once, ...again]].map(
    (fragments) => () => new (ours as unknown as Side)[format]().render(fragments),
  );
  const [single = 0, double = 0] = sizes.map((render) => {
    time(render, 10);
    return Math.min(...Array.from({ length: TURNS }, () => time(render, 5)));
  });
  return double / single;
}

/** How many renderings fill a turn. The clock may tick in milliseconds, so the first ones count for nothing. */
function repeatsOf(render: () => string): number {
  let repeats = 30;
  let took = time(render, repeats);
  while (took < TURN_MS / 4) took = time(render, (repeats *= 2));
  return Math.max(1, Math.ceil((TURN_MS * repeats) / took));
}

/** Milliseconds of this thread for so many renderings, each read once. */
function time(render: () => string, repeats: number): number {
  const start = process.threadCpuUsage();
  for (let i = 0; i < repeats; i++) {
    const text = render();
    read += text.charCodeAt(text.length >> 1);
  }
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function table(runs: readonly (readonly Figure[])[]): string {
  const rows = (runs[0] ?? []).map((_figure, i) => rowOf(runs.flatMap((figures) => figures[i] ?? [])));
  return [
    '| format | prompt | first | again | µs first, ours / theirs | µs again | kB |',
    '| --- | --- | --: | --: | --: | --: | --: |',
    ...rows,
  ].join('\n');
}

/** The same prompt in all runs. */
function rowOf(figures: readonly Figure[]): string {
  const of = (name: 'first' | 'again' | 'kilobytes'): (readonly [number, number])[] =>
    figures.map((figure) => figure[name]);
  const cells = [
    figures[0]?.format,
    figures[0]?.shape,
    `${range(of('first').map(ratioOf), 2)}x`,
    `${range(of('again').map(ratioOf), 2)}x`,
    pair(of('first'), 0),
    pair(of('again'), 0),
    pair(of('kilobytes'), 1),
  ];
  return `| ${cells.join(' | ')} |`;
}

function pair(values: readonly (readonly [number, number])[], digits: number): string {
  return ([0, 1] as const)
    .map((side) =>
      range(
        values.map((value) => value[side]),
        digits,
      ),
    )
    .join(' / ');
}

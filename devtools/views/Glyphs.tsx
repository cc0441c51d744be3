import type { ReactNode } from 'react';
import { colourOf, type GraphModel, passingColours } from '../graphRows.ts';
import { branchColour } from '../theme.ts';

/** The distance of two lanes, in CSS pixels. */
const LANE = 14;

const laneX = (lane: number): number => 10 + lane * LANE;

/**
 * The lines of one row, drawn from its own numbers: those that pass on the left, the one that arrives, the one that continues.
 */
export function glyphsOf(
  model: GraphModel,
  node: number,
  height: number,
  isFolded: boolean,
  isCheckpoint: boolean,
): ReactNode {
  const { lanes } = model;
  const middle = height / 2;
  const x = laneX(lanes.of(node).lane);
  const own = colourOf(model, node);
  /** The colour of the message that continues the lane; undefined for the last one. */
  const next = lanes.next(node);
  const after = next === undefined ? undefined : colourOf(model, next);
  const [arriving, onwards] = [arrival(model, node, middle), `M${x} ${middle}V${height}`];
  return (
    <svg width={x + 10} height={height} aria-hidden="true">
      {passingColours(model, node).map((passing, left) => (
        <g key={left}>{lineOf(passing, `M${laneX(left)} 0V${height}`)}</g>
      ))}
      {lineOf(own, !isFolded && after === own ? arriving + onwards : arriving)}
      {isFolded
        ? lineOf(own, onwards, '2 2')
        : after !== undefined && after !== own && lineOf(after, onwards)}
      {dotOf(x, middle, isCheckpoint ? 'checkpoint' : model.nodes[node]?.role, branchColour(own))}
    </svg>
  );
}

function lineOf(branch: number, path: string, dashes?: string): ReactNode {
  return <path className="lane" stroke={branchColour(branch)} strokeDasharray={dashes} d={path} />;
}

/** The line to a message: straight down its lane, or a curve from the lane where it forks. */
function arrival({ lanes }: GraphModel, node: number, middle: number): string {
  const { start, lane } = lanes.of(node);
  const x = laneX(lane);
  if (lanes.parent(node) === undefined) return '';
  if (node !== start.first) return `M${x} 0V${middle}`;
  return `M${x - LANE} 0Q${x - LANE} ${middle} ${x} ${middle}`;
}

/** Shapes tell what colour alone must not: hollow for a person's message, filled for an answer, a diamond for a checkpoint. */
function dotOf(x: number, middle: number, shape: string | undefined, colour: string): ReactNode {
  const path =
    shape === 'checkpoint'
      ? `M${x} ${middle - 6}l6 6-6 6-6-6z`
      : shape === 'system'
        ? `M${x - 3.5} ${middle - 3.5}h7v7h-7z`
        : `M${x - 4} ${middle}a4 4 0 1 0 8 0 4 4 0 1 0-8 0z`;
  return <path className="dot" fill={shape === 'user' ? 'var(--ground)' : colour} stroke={colour} d={path} />;
}

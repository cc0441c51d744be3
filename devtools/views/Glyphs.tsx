import type { ReactNode } from 'react';
import { type GraphModel, passingColours } from '../graphRows.ts';
import { branchColour } from '../theme.ts';

/** The distance of two lanes, in CSS pixels. */
const LANE = 14;

const laneX = (lane: number): number => 10 + lane * LANE;

interface GlyphsProps {
  readonly model: GraphModel;
  readonly node: number;
  readonly height: number;
  readonly isFolded: boolean;
  readonly isCheckpoint: boolean;
}

/**
 * The lines of one row, drawn from its own numbers: those that pass on the left, the one that arrives, the one that continues.
 */
export function Glyphs({ model, node, height, isFolded, isCheckpoint }: GlyphsProps): ReactNode {
  const { lanes } = model;
  const middle = height / 2;
  const lane = lanes.lane[node] as number;
  const x = laneX(lane);
  const own = branchColour(model.colour[node] as number);
  const next = lanes.next[node] as number;
  return (
    <svg width={x + 10} height={height} aria-hidden="true">
      {passingColours(model, node).map((colour, left) => (
        <line
          key={left}
          className="lane"
          stroke={branchColour(colour)}
          x1={laneX(left)}
          x2={laneX(left)}
          y2={height}
        />
      ))}
      <path className="lane" stroke={own} d={arrival(model, node, middle)} />
      {next >= 0 && !isFolded && (
        <path
          className="lane"
          stroke={branchColour(model.colour[next] as number)}
          d={`M${x} ${middle}V${height}`}
        />
      )}
      {isFolded && (
        <path className="lane" stroke={own} strokeDasharray="2 2" d={`M${x} ${middle}V${height}`} />
      )}
      {dotOf(x, middle, isCheckpoint ? 'checkpoint' : model.nodes[node]?.role, own)}
    </svg>
  );
}

/** The line to a message: straight down its lane, or a curve from the lane where it forks. */
function arrival({ lanes }: GraphModel, node: number, middle: number): string {
  const x = laneX(lanes.lane[node] as number);
  if ((lanes.parent[node] as number) < 0) return '';
  if (lanes.start[node] !== node) return `M${x} 0V${middle}`;
  return `M${x - LANE} 0Q${x - LANE} ${middle} ${x} ${middle}`;
}

/** Shapes tell what colour alone must not: hollow for a person's message, filled for an answer, a diamond for a checkpoint. */
function dotOf(x: number, middle: number, shape: string | undefined, colour: string): ReactNode {
  const fill = shape === 'user' ? 'var(--ground)' : colour;
  if (shape === 'checkpoint') {
    return <path className="dot" fill={fill} stroke={colour} d={`M${x} ${middle - 6}l6 6-6 6-6-6z`} />;
  }
  if (shape === 'system') {
    return (
      <rect className="dot" fill={fill} stroke={colour} x={x - 3.5} y={middle - 3.5} width={7} height={7} />
    );
  }
  return <circle className="dot" fill={fill} stroke={colour} cx={x} cy={middle} r={4} />;
}

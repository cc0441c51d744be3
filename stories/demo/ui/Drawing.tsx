import type { ReactNode } from 'react';

/** Pages without words have a drawing: a tree of talk, and what becomes of it. Lines on a grid of 120 by 72. */
const drawings = {
  /** A conversation that is about to begin: one trunk, two branches, room for more. */
  sprout: {
    lines: 'M60 68V20M60 50C60 38 84 44 84 28M60 40C60 30 38 36 38 22',
    dots: [
      [60, 14, 'full'],
      [84, 22, 'open'],
      [38, 16, 'open'],
    ],
  },
  /** A way that leads nowhere. */
  nowhere: {
    lines: 'M14 54C30 54 30 30 48 30S64 44 72 44M80 44h2M90 44h2M100 44h2',
    dots: [
      [14, 54, 'full'],
      [48, 30, 'open'],
    ],
  },
  /** A branch that broke. */
  broken: {
    lines: 'M60 68V46M60 46C60 34 40 40 40 24M66 34l6-8M76 36l8-2M60 34l-2-10',
    dots: [
      [40, 18, 'open'],
      [84, 14, 'full'],
    ],
  },
} as const;

/** A drawing beside words that say the same. */
export function Drawing({ name }: { readonly name: keyof typeof drawings }): ReactNode {
  const { lines, dots } = drawings[name];
  return (
    <svg className="drawing" viewBox="0 0 120 72" aria-hidden="true" focusable="false">
      <path d={lines} />
      {dots.map(([x, y, kind]) => (
        <circle key={`${x} ${y}`} cx={x} cy={y} r="5" data-kind={kind} />
      ))}
    </svg>
  );
}

import type { ReactNode } from 'react';

/** Shares of a whole, by their kinds, each of which has a colour, as a bar; and in words below it. */
export function meter(
  words: string,
  parts: Readonly<Record<string, number>>,
  whole: number,
  isOver = false,
): ReactNode {
  return (
    <>
      <div className={isOver ? 'meter bad' : 'meter'} aria-hidden="true">
        {Object.entries(parts).map(([kind, size]) => (
          <span key={kind} className={`key-${kind}`} style={{ width: `${(100 * size) / (whole || 1)}%` }} />
        ))}
      </div>
      <p className={isOver ? 'bad' : 'muted'}>{words}</p>
    </>
  );
}

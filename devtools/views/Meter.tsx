import type { ReactNode } from 'react';

/** Shares of a whole as a bar, and in words below it. */
export function Meter({ label, words, parts, whole, now, max, isOver = false }: MeterProps): ReactNode {
  const name =
    max === undefined
      ? ({ role: 'img', 'aria-label': words } as const)
      : ({
          role: 'meter',
          'aria-label': label,
          'aria-valuemin': 0,
          'aria-valuemax': max,
          'aria-valuenow': now,
          'aria-valuetext': words,
        } as const);
  return (
    <>
      <div className={isOver ? 'meter bad' : 'meter'} {...name}>
        {Object.entries(parts).map(([kind, size]) => (
          <span key={kind} className={`key-${kind}`} style={{ width: `${(100 * size) / (whole || 1)}%` }} />
        ))}
      </div>
      <p className={isOver ? 'bad' : 'muted'}>{words}</p>
    </>
  );
}

interface MeterProps {
  readonly label?: string;
  readonly words: string;
  /** The shares by their kind, each of which has a colour. */
  readonly parts: Readonly<Record<string, number>>;
  readonly whole: number;
  /** The value, and what it is measured against; a picture where nothing is. */
  readonly now?: number;
  readonly max?: number;
  readonly isOver?: boolean;
}

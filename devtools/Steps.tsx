import type { ReactNode } from 'react';

const STEPS = [
  ['Previous hit', '↑', -1],
  ['Next hit', '↓', 1],
] as const;

/** The buttons that go from hit to hit of a search. */
export function Steps({ isOff, onStep }: StepsProps): ReactNode {
  return STEPS.map(([label, sign, by]) => (
    <button
      key={sign}
      type="button"
      className="icon"
      aria-label={label}
      title={label}
      disabled={isOff}
      onClick={() => onStep(by)}
    >
      {sign}
    </button>
  ));
}

interface StepsProps {
  /** Whether there are no hits. */
  readonly isOff: boolean;
  readonly onStep: (by: 1 | -1) => void;
}

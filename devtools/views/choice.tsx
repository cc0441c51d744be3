import type { ReactNode } from 'react';

/** A choice of one, as a row of buttons. */
export function choice<T extends string>(
  options: readonly T[],
  value: T,
  onChange: (value: T) => void,
): ReactNode {
  return (
    <div role="group" aria-label="Show">
      {options.map((name) => (
        <button key={name} aria-pressed={name === value} onClick={() => onChange(name)}>
          {name}
        </button>
      ))}
    </div>
  );
}

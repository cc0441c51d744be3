import type { ReactNode } from 'react';

/** A choice of one, as a row of buttons. */
export function Choice<T extends string>({
  label = 'Show',
  options,
  value,
  onChange,
}: ChoiceProps<T>): ReactNode {
  return (
    <div className="switch" role="group" aria-label={label}>
      {options.map((name) => (
        <button key={name} type="button" aria-pressed={name === value} onClick={() => onChange(name)}>
          {name}
        </button>
      ))}
    </div>
  );
}

interface ChoiceProps<T extends string> {
  readonly label?: string;
  readonly options: readonly T[];
  readonly value: T;
  readonly onChange: (value: T) => void;
}

import type { KeyboardEvent, ReactNode } from 'react';

/** How many characters are changed here at most: a browser lays out ten million of them in minutes. */
const MOST = 100_000;

/** A field for words; it says so where they are too many to be changed. */
export function Textarea({ value, onChange, ...field }: TextareaProps): ReactNode {
  const isLong = value.length > MOST;
  return (
    <textarea
      rows={4}
      dir="auto"
      disabled={isLong}
      value={isLong ? 'Too long to be changed here.' : value}
      onChange={({ target }) => onChange(target.value)}
      {...field}
    />
  );
}

interface TextareaProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly 'aria-label'?: string;
  readonly autoFocus?: boolean;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
}

import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';

/** The field for the name of a new checkpoint, in its row. */
export function CheckpointName({ onName, onClose }: CheckpointNameProps): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    event.preventDefault();
    const name = input.current?.value.trim() ?? '';
    if (event.key === 'Enter' && name !== '') onName(name);
    onClose();
  };
  return (
    <input
      ref={input}
      className="naming"
      aria-label="Name of the checkpoint"
      placeholder="Name it, Enter"
      dir="auto"
      onKeyDown={onKeyDown}
      onBlur={onClose}
    />
  );
}

interface CheckpointNameProps {
  readonly onName: (name: string) => void;
  readonly onClose: () => void;
}

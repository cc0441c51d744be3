import { type ReactNode, useEffect, useRef } from 'react';
import { keys } from '../kit.tsx';

/** The field for the name of a new checkpoint, in its row. */
export function CheckpointName({ onName, onClose }: CheckpointNameProps): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const take = (): void => {
    const name = input.current?.value.trim();
    if (name) onName(name);
    onClose();
  };
  return (
    <input
      ref={input}
      className="naming"
      aria-label="Name of the checkpoint"
      placeholder="Name it, Enter"
      dir="auto"
      onKeyDown={(event) => keys({ Enter: take, Escape: onClose })(event)}
      onBlur={onClose}
    />
  );
}

interface CheckpointNameProps {
  readonly onName: (name: string) => void;
  readonly onClose: () => void;
}

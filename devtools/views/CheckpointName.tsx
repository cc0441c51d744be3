import { type ReactNode, useRef } from 'react';
import { keys } from '../keys.ts';

/** The field for the name of a checkpoint: of a new one, or another name. Enter takes it, Escape and leaving the field don't. */
export function CheckpointName({ name, onName, onClose }: CheckpointNameProps): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  const take = (): void => {
    const chosen = input.current?.value.trim();
    if (chosen && chosen !== name) onName(chosen);
    onClose();
  };
  return (
    <input
      ref={input}
      className="naming"
      aria-label="Name of the checkpoint"
      placeholder="Name it, Enter"
      defaultValue={name}
      dir="auto"
      // oxlint-disable-next-line jsx-a11y/no-autofocus -- a person has just opened it
      autoFocus
      onFocus={({ target }) => target.select()}
      onKeyDown={(event) => keys({ Enter: take, Escape: onClose })(event)}
      onBlur={onClose}
    />
  );
}

interface CheckpointNameProps {
  readonly name?: string;
  readonly onName: (name: string) => void;
  readonly onClose: () => void;
}

import type { ContextEngine } from 'contextree';
import type { ReactNode } from 'react';

/** Chooses which of several engines is shown. */
export function Engines({ engines, picked, onPick }: EnginesProps): ReactNode {
  return (
    <select
      aria-label="Chat"
      className="engines"
      value={picked}
      onChange={(event) => onPick(Number(event.target.value))}
    >
      {engines.map((engine, i) => (
        <option key={i} value={i}>
          {engine.chat?.title ?? engine.chatId}
        </option>
      ))}
    </select>
  );
}

interface EnginesProps {
  readonly engines: readonly ContextEngine[];
  /** The index of the shown one. */
  readonly picked: number;
  readonly onPick: (index: number) => void;
}

interface FileNoteProps {
  readonly text: string;
  readonly onClose: (() => void) | undefined;
}

/** Says that a copy is shown, or why a file can't be opened. */
export function FileNote({ text, onClose }: FileNoteProps): ReactNode {
  return (
    <div className="bar copy" role="status">
      <span className="grow">{text}</span>
      {onClose && (
        <button type="button" onClick={onClose}>
          Close
        </button>
      )}
    </div>
  );
}

import { Select } from './kit.tsx';
import type { ContextEngine } from 'contextree';
import type { ReactNode } from 'react';

/** Chooses which of several engines is shown. */
export function Engines({ engines, picked, onPick }: EnginesProps): ReactNode {
  return (
    <Select
      label="Chat"
      className="engines"
      value={String(picked)}
      options={engines.map(({ chat }, i) => [String(i), chat?.title || `Untitled chat ${i + 1}`])}
      onChange={(index) => onPick(Number(index))}
    />
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

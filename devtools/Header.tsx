import { Select } from './kit.tsx';
import type { ContextEngine } from 'contextree';
import type { ReactNode } from 'react';

/** Chooses which of several engines is shown. */
export function Engines({ engines, picked, onPick }: EnginesProps): ReactNode {
  return (
    <Select
      label="Chat"
      value={String(picked)}
      options={engines.map((engine, i) => [String(i), nameOf(engine)])}
      onChange={(index) => onPick(Number(index))}
    />
  );
}

/** What a person knows a chat by: its title, else its first words. Its id says nothing, and stands where there are none. */
function nameOf(engine: ContextEngine): string {
  return engine.chat?.title || engine.graph().nodes[0]?.content || engine.chatId;
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
    <div className="bar warn" role="status">
      <span className="grow">{text}</span>
      {onClose && (
        <button type="button" onClick={onClose}>
          Close
        </button>
      )}
    </div>
  );
}

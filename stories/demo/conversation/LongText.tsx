import { useEffect, type ReactNode } from 'react';
import { inUnits } from '../quantities.ts';
import { useAnnounce } from '../shell/Announcer.tsx';
import { Icon } from '../ui/Icon.tsx';

/** A long text was pasted into the box: it can stay there, or go along as a file. */
export function LongText({ text, onAttach, onKeep }: LongTextProps): ReactNode {
  const announce = useAnnounce();
  const told = `${inUnits(text.length)} of text pasted.`;
  useEffect(() => announce(`${told} It can be attached as a file.`), [told, announce]);
  return (
    <div className="long-text" role="group" aria-label="Pasted text">
      <span>{told}</span>
      <button type="button" className="button" onClick={onAttach}>
        <Icon name="file" />
        Attach as a file
      </button>
      <button type="button" className="text-button" onClick={onKeep}>
        Keep in the message
      </button>
    </div>
  );
}

interface LongTextProps {
  readonly text: string;
  /** Takes the text out of the box, and attaches it. */
  readonly onAttach: () => void;
  readonly onKeep: () => void;
}

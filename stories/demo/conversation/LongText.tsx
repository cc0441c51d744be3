import { useEffect, type ReactNode } from 'react';
import { inUnits } from '../quantities.ts';
import { useAnnounce } from '../shell/Announcer.tsx';
import { Icon } from '../ui/Icon.tsx';

/** A long text was pasted: it can go along as a file, and one that did can go into the message. */
export function LongText({ length, isFile, onMove, onKeep }: LongTextProps): ReactNode {
  const announce = useAnnounce();
  const told = `${inUnits(length)} of text ${isFile ? 'in a long line went into a file.' : 'pasted.'}`;
  const also = isFile ? 'It can be put in the message.' : 'It can be attached as a file.';
  useEffect(() => announce(`${told} ${also}`), [told, also, announce]);
  return (
    <div className="long-text" role="group" aria-label="Pasted text">
      <span>{told}</span>
      <button type="button" className="button" onClick={onMove}>
        {!isFile && <Icon name="file" />}
        {isFile ? 'Put in the message' : 'Attach as a file'}
      </button>
      <button type="button" className="text-button" onClick={onKeep}>
        {isFile ? 'Keep as a file' : 'Keep in the message'}
      </button>
    </div>
  );
}

interface LongTextProps {
  /** Of the text, in code units. */
  readonly length: number;
  /** Whether the text became a file; it is in the box otherwise. */
  readonly isFile: boolean;
  /** Takes the text out of the box and attaches it, or the other way round. */
  readonly onMove: () => void;
  readonly onKeep: () => void;
}

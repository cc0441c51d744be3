import { useCheckpoint, useEngine } from 'contextree';
import type { ReactNode } from 'react';
import { useAnnounce } from '../shell/Announcer.tsx';
import { useTellDone } from '../shell/useUndo.ts';
import { NameDialog } from '../ui/NameDialog.tsx';

/** Gives a message a name that one can return to. A name that is in use moves to this message, and the dialog says so. */
export function NewCheckpoint({ messageId, onClose }: NewCheckpointProps): ReactNode {
  const engine = useEngine();
  const { checkpoints } = useCheckpoint();
  const announce = useAnnounce();
  const taken = checkpoints.map(({ name }) => name);
  const tellDone = useTellDone();
  const save = async (name: string): Promise<void> => {
    const isMove = taken.includes(name);
    await engine.checkpoint(name, { at: messageId });
    if (isMove) tellDone({ text: `Checkpoint “${name}” moved`, lasts: 10_000 });
    else announce(`Checkpoint saved: ${name}`);
  };
  return (
    <NameDialog
      title="New checkpoint"
      initial={freeName(taken)}
      warn={(name) => (taken.includes(name) ? `${name} exists; saving moves it to this message.` : undefined)}
      onSave={save}
      onClose={onClose}
    />
  );
}

function freeName(taken: readonly string[]): string {
  let n = 1;
  while (taken.includes(`Checkpoint ${n}`)) n += 1;
  return `Checkpoint ${n}`;
}

interface NewCheckpointProps {
  readonly messageId: string;
  readonly onClose: () => void;
}

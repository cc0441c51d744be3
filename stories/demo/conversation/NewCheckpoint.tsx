import { useCheckpoint, useEngine } from 'contextree';
import type { ReactNode } from 'react';
import { useAnnounce } from '../shell/Announcer.tsx';
import { NameDialog } from '../ui/NameDialog.tsx';

/** Gives a message a name that one can return to. A name that is in use moves to this message. */
export function NewCheckpoint({ messageId, onClose }: NewCheckpointProps): ReactNode {
  const engine = useEngine();
  const { checkpoints } = useCheckpoint();
  const announce = useAnnounce();
  const save = async (name: string): Promise<void> => {
    await engine.checkpoint(name, { at: messageId });
    announce(`Checkpoint saved: ${name}`);
  };
  return (
    <NameDialog
      title="New checkpoint"
      initial={freeName(checkpoints.map(({ name }) => name))}
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

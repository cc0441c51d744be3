import { useCheckpoint } from 'contextree';
import { useRef, useState, type ReactNode } from 'react';
import { Icon } from '../ui/Icon.tsx';
import { late } from '../ui/late.tsx';

const AllCheckpoints = late(async () => (await import('./CheckpointList.tsx')).AllCheckpoints);

/** Named points of the conversation, and the way back to each. */
export function Checkpoints({ view }: { readonly view: CheckpointsView }): ReactNode {
  const { checkpoints } = useCheckpoint();
  const button = useRef<HTMLButtonElement>(null);
  const { opened, open, close } = view;
  return (
    <>
      <button
        ref={button}
        type="button"
        className="button checkpoints-button"
        aria-label="Checkpoints"
        aria-haspopup="dialog"
        aria-expanded={opened !== undefined}
        title="Checkpoints"
        onClick={() => (opened === undefined ? open('') : close())}
      >
        <Icon name="flag" />
        {checkpoints.length > 0 && <small data-count={checkpoints.length} />}
      </button>
      {opened !== undefined && <AllCheckpoints opened={opened} opener={button} onClose={close} />}
    </>
  );
}

/** Whether the list of checkpoints is open, and on which of them. */
export interface CheckpointsView {
  /** The name of the checkpoint that it was opened on, '' for none; undefined while it is closed. */
  readonly opened: string | undefined;
  readonly open: (name: string) => void;
  readonly close: () => void;
}

/** A closed list of checkpoints. */
export function useCheckpointsView(): CheckpointsView {
  const [opened, setOpened] = useState<string>();
  const [actions] = useState(() => ({ open: setOpened, close: () => setOpened(undefined) }));
  return { opened, ...actions };
}

import { useCheckpoint, useEngine } from 'contextree';
import { use, type ReactNode } from 'react';
import { Icon } from '../ui/Icon.tsx';
import { Around } from './Around.ts';

/** The checkpoints of a message, as flags below it. */
export function Flags({ messageId }: { readonly messageId: string }): ReactNode {
  const { checkpoints } = useCheckpoint();
  const engine = useEngine();
  const { showCheckpoint } = use(Around);
  if (checkpoints.length === 0) return null;
  const key = engine.node(messageId)?.key;
  const own = checkpoints.filter(({ messageKey }) => messageKey === key);
  if (own.length === 0) return null;
  return (
    <div className="flags">
      {own.map(({ id, name }) => (
        <button
          key={id}
          type="button"
          className="flag"
          aria-label={`Checkpoint ${name}`}
          title={`Checkpoint ${name}`}
          onClick={() => showCheckpoint(name)}
        >
          <Icon name="flag" />
          <span dir="auto">{name}</span>
        </button>
      ))}
    </div>
  );
}

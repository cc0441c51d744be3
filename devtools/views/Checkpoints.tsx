import type { CheckpointInfo, ContextEngine } from 'contextree';
import { type ReactNode, useState } from 'react';
import { useAttempt } from '../attempt.tsx';
import { expectBranching } from '../branching.ts';
import { plainLine } from '../plainLine.ts';
import { unread } from '../unread.tsx';
import type { ViewProps } from '../view.ts';
import { CheckpointName } from './CheckpointName.tsx';
import { operationsOf, undoButtons } from './History.tsx';
import { pointMark } from './Label.tsx';
import { List } from './List.tsx';

/** The checkpoints of the chat, newest first, and the actions on them. Each can be undone. */
export function Checkpoints({ engine, state, onOpen }: ViewProps): ReactNode {
  const { checkpoints } = state;
  const [id, setId] = useState<string>();
  const [isNaming, setNaming] = useState(false);
  const { alert, attempt } = useAttempt();
  const selected = checkpoints.findIndex((one) => one.id === id);
  const point = checkpoints[selected];
  if (checkpoints.length === 0)
    return (
      unread(state) ?? (
        <p className="words">No checkpoints yet. Press c on a message of the graph to set one.</p>
      )
    );
  const show = (): void => onOpen('Graph', { node: point?.messageKey });
  const restore = (): void =>
    attempt(async () => {
      expectBranching(engine.state.getState());
      if (point) await engine.restore(point.name);
    });
  const [undo] = undoButtons(engine, operationsOf({ engine, state }), attempt);
  const acts: readonly (readonly [label: string, act: () => void])[] = [
    ['Show in Graph', show],
    ['Restore', restore],
    ['Rename', () => setNaming(true)],
    ['Delete', () => point && attempt(() => engine.deleteCheckpoint(point.name))],
  ];
  return (
    <>
      {alert}
      <List
        label="Checkpoints, newest first"
        items={checkpoints}
        selected={selected}
        onSelect={(index) => {
          setId(checkpoints[index]?.id);
          setNaming(false);
        }}
        onOpen={show}
        renderItem={(one) => lineOf(one, engine, one.messageKey === state.headKey)}
      />
      {isNaming && point && (
        <footer className="bar">
          <CheckpointName
            name={point.name}
            onName={(name) => attempt(() => engine.renameCheckpoint(point.name, name))}
            onClose={() => setNaming(false)}
          />
        </footer>
      )}
      <footer className="bar">
        {acts.map(([label, act]) => (
          <button key={label} disabled={!point} onClick={act}>
            {label}
          </button>
        ))}
        {undo}
      </footer>
    </>
  );
}

function lineOf(point: CheckpointInfo, engine: ContextEngine, isHere: boolean): ReactNode {
  const node = engine.node(point.messageKey);
  return (
    <>
      {pointMark(point)}
      <span className="grow preview muted" dir="auto">
        {node && plainLine(node.name, node.preview)}
      </span>
      {isHere && <span className="state">shown by the app</span>}
      <time className="muted">{new Date(point.createdAt).toLocaleString()}</time>
    </>
  );
}

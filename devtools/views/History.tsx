import type { BranchInfo, ContextEngine, EngineState, PastGraph } from 'contextree';
import { type ReactNode, useMemo, useState } from 'react';
import { useAttempt } from '../attempt.tsx';
import { clock } from '../amounts.ts';
import { type GraphModel, graphModel } from '../graphRows.ts';
import { useAnswer } from '../live.tsx';
import { type Step, stepsOf } from '../steps.ts';
import { unread } from '../unread.tsx';
import type { ViewProps } from '../view.ts';
import { GraphList } from './GraphList.tsx';
import { List } from './List.tsx';

/**
 * A chat's messages and operations by time. One of them is selected, at first the last one, and beside the list stands the
 * graph as it was right after it. Selecting changes nothing in the app; "Go back to here" shows that message there.
 */
export function History({
  engine,
  state,
  onOpen,
  parts,
}: ViewProps & { readonly parts: ReactNode }): ReactNode {
  const steps = useSteps(engine, state);
  const [at, setAt] = useState<number>();
  const { alert, attempt } = useAttempt();
  const selected = indexAt(steps, at);
  const step = steps[selected];
  const operations = operationsOf({ engine, state });
  const past = usePast(engine, step?.at, operations);
  const select = (index: number): void =>
    setAt(index === steps.length - 1 ? undefined : steps[Math.max(0, index)]?.at);
  const head = past?.branches.find(({ isActive }) => isActive)?.headKey ?? undefined;
  if (steps.length === 0)
    return (
      <>
        <div className="bar">{parts}</div>
        {unread(state) ?? <p className="words">No messages yet.</p>}
      </>
    );
  return (
    <>
      <div className="bar">
        {parts}
        {undoButtons(engine, operations, attempt)}
        <input
          className="grow"
          type="range"
          min={0}
          max={steps.length - 1}
          value={selected}
          aria-label="Step"
          aria-valuetext={step && `${step.kind} ${step.label}`}
          onChange={({ target }) => select(Number(target.value))}
        />
        <span className="muted">
          {selected + 1} / {steps.length}
        </span>
        <button
          disabled={head === undefined || head === state.headKey}
          onClick={() => head !== undefined && attempt(() => engine.checkout(head))}
        >
          Go back to here
        </button>
      </div>
      {alert}
      {at !== undefined && past?.isPartial && (
        <p className="inset warn">Names and checkpoints may differ: changes made elsewhere are not known.</p>
      )}
      <div className="split two">
        <div className="list">
          <List
            label="Messages and operations, oldest first"
            items={steps}
            selected={selected}
            onSelect={select}
            renderItem={stepLine}
          />
        </div>
        {past && (
          <Past
            engine={engine}
            state={state}
            past={past}
            hereKey={head}
            onCheckOut={(key) => attempt(() => engine.checkout(key))}
            onRead={(node) => onOpen('Graph', { node })}
          />
        )}
      </div>
    </>
  );
}

/** The steps, computed again after a message or an operation; a growing answer is one step. */
function useSteps(engine: ContextEngine, state: EngineState): readonly Step[] {
  const { chat, saveState } = state;
  const operations = operationsOf({ engine, state });
  return useMemo(
    () => stepsAt({ engine, chat, saveState, operations }),
    [engine, chat, saveState, operations],
  );
}

/** The inputs of a query of the engine: at another moment the result may differ. */
function stepsAt({
  engine,
  operations,
}: Pick<EngineState, 'chat' | 'saveState'> & {
  readonly engine: ContextEngine;
  readonly operations: Operations;
}): readonly Step[] {
  return stepsOf(engine.graph().nodes, operations);
}

/** The index of the step at a time, or of the last one before it; without a time the last one. */
function indexAt(steps: readonly Step[], at: number | undefined): number {
  return at === undefined ? steps.length - 1 : steps.findLastIndex((step) => step.at <= at);
}

type Operations = ReturnType<ContextEngine['operations']>;

/** The operations at a state of the engine, oldest first. */
export function operationsOf({ engine }: Pick<ViewProps, 'engine' | 'state'>): Operations {
  return engine.operations();
}

/** The graph at an earlier time; while it is read, the one that was read before. */
function usePast(
  engine: ContextEngine,
  at: number | undefined,
  operations: Operations,
): PastGraph | undefined {
  const { value, error } = useAnswer(
    () => (at === undefined ? undefined : engine.graph({ at })),
    [engine, at, operations],
  );
  if (error) throw error;
  return value;
}

/** Undo and redo, which tell the operations that they act on. */
export function undoButtons(
  engine: ContextEngine,
  operations: Operations,
  attempt: (act: () => Promise<unknown>) => void,
): readonly ReactNode[] {
  const acts = [
    ['Undo', operations.findLast((one) => one.state !== 'undone'), () => engine.undo()],
    ['Redo', operations.find((one) => one.state === 'undone'), () => engine.redo()],
  ] as const;
  return acts.map(([label, of, act]) => (
    <button
      key={label}
      disabled={!of}
      title={of && `${label}: ${of.kind} ${of.label}`}
      onClick={() => attempt(act)}
    >
      {label}
    </button>
  ));
}

function stepLine({ time, kind, label, state }: Step): ReactNode {
  const isOperation = state !== undefined;
  return (
    <>
      <time className="muted" title={new Date(time).toLocaleString()}>
        {clock(time)}
      </time>
      <span className={isOperation ? 'kind' : 'muted'}>{kind}</span>
      <span className="grow preview" dir="auto">
        {label}
      </span>
      {isOperation && state !== 'undoable' && <span className="state">{state}</span>}
    </>
  );
}

/** The graph at an earlier time. */
function Past({ engine, state, past, hereKey, onCheckOut, onRead }: PastProps): ReactNode {
  const { branches, model } = useMemo(() => pastOf(past, state.branches), [past, state.branches]);
  const [selected, select] = useState<string>();
  const [choices, setChoices] = useState<ReadonlyMap<string, boolean>>(new Map());
  const known = selected !== undefined && model.places.of(selected) !== undefined ? selected : undefined;
  return (
    <section className="node" aria-label="The chat at this step">
      {model.nodes.length === 0 ? (
        <p className="words">No message was there yet.</p>
      ) : (
        <GraphList
          engine={engine}
          model={model}
          state={{ ...state, branches, headKey: hereKey }}
          selected={known}
          onSelect={select}
          onRead={(key) => key === known && onRead(key)}
          onCheckOut={onCheckOut}
          choices={choices}
          onChoose={setChoices}
        />
      )}
    </section>
  );
}

interface PastProps extends Pick<ViewProps, 'engine' | 'state'> {
  readonly past: PastGraph;
  readonly hereKey: string | undefined;
  readonly onCheckOut: (key: string) => void;
  readonly onRead: (key: string) => void;
}

/** The branches as they were, with the labels of today: their size and age at that time are not recorded; and their graph. */
function pastOf(
  { nodes, branches: then, checkpoints }: PastGraph,
  today: readonly BranchInfo[],
): { readonly branches: readonly BranchInfo[]; readonly model: GraphModel } {
  const branches = then.map((branch) => {
    const { label = branch.name, ownCount = NaN } = today.find(({ name }) => name === branch.name) ?? {};
    return {
      ...branch,
      id: branch.name,
      label,
      messageCount: 0,
      createdAt: 0,
      forkedFrom: undefined,
      forkedAt: null,
      ownCount,
    };
  });
  const points = checkpoints.map((one) => ({ ...one, id: one.name, createdAt: 0 }));
  const head = branches.find(({ isActive }) => isActive)?.headKey;
  return { branches, model: graphModel(nodes, branches, points, [head]) };
}

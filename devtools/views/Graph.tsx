import type { ContextEngine, EngineState } from 'contextree';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import { useAttempt } from '../attempt.tsx';
import { Dressed, useTools } from '../Dressed.tsx';
import { counted } from '../figures.ts';
import { type GraphModel, graphModel } from '../graphRows.ts';
import { keys } from '../keys.ts';
import { recall } from '../memory.ts';
import { useRoom } from '../room.ts';
import { useShownIn } from '../Styled.tsx';
import { unread } from '../unread.tsx';
import type { ViewProps } from '../view.ts';
import type { Wanted } from '../wanted.ts';
import { COLUMNS, type ColumnName } from '../columns.ts';
import { GraphList } from './GraphList.tsx';

/**
 * The conversation as rows and lanes, and beside it the selected message. Selecting only shows: a click and the arrows select,
 * Enter and a button check out. Until somebody selects, the graph follows what the app shows.
 */
export function Graph(props: ViewProps): ReactNode {
  const { engine, state, sight, onLook } = props;
  const model = useModel(engine, state);
  const [isRead, setRead] = useState(false);
  const [hasBeenRead, setBeenRead] = useState(false);
  const [choices, setChoices] = useState<ReadonlyMap<string, boolean>>(new Map());
  const { ref, isNarrow, isTall } = useRoom();
  const { alert, attempt } = useAttempt();
  const [found, setFound] = useState<readonly string[]>();
  const [wanted, setWanted] = useState<Wanted>();
  const tools = useTools();
  const box = useRef<HTMLInputElement>(null);
  const [naming, setNaming] = useState<string>();
  const [isHelpOpen, setHelp] = useState(false);
  const [columns, setColumns] = useState(rememberedColumns);
  const shownIn = useShownIn();
  const key = sight.node !== undefined && model.places.of(sight.node) !== undefined ? sight.node : undefined;
  if (model.nodes.length === 0)
    return (
      unread(state) ?? (
        <p className="words">No messages yet. Each message will be a row here, each branch a line.</p>
      )
    );
  const shared = { engine, model, state, found, choices, columns, selected: key };
  const select = (node?: string): void => {
    onLook({ node });
    setRead(false);
  };
  const back = (): void => {
    setBeenRead(true);
    setRead(false);
  };
  const isNodeShown = key !== undefined && (!isNarrow || isRead);
  const checkOut = (at: string): void => attempt(() => engine.checkout(at));
  const step = (hit: string, unfolded: ReadonlyMap<string, boolean>): void => {
    setChoices(unfolded);
    select(hit);
  };
  /** Single keys, only while the list has the focus: elsewhere they are typed. */
  const onAction = (pressed: string, at: string): boolean => {
    const act = tools?.graphKeys[pressed];
    if (pressed === '/') box.current?.focus();
    else if (pressed === '?') setHelp(!isHelpOpen);
    else if (pressed === 'c') setNaming(at);
    else if (act) attempt(async () => act(props, at, shownIn));
    else return false;
    return true;
  };
  const close = isHelpOpen && (() => setHelp(false));
  const empty = wanted?.text ? () => setWanted({ ...wanted, text: '' }) : undefined;
  const stopNaming = (): void => {
    setNaming(undefined);
    setBeenRead(true);
  };
  return (
    <div ref={ref} className="split" role="presentation" onKeyDown={keys({ Escape: close || empty })}>
      {alert}
      {!(isNarrow && isNodeShown) && (
        <div className="list">
          <Dressed meanwhile={<div className="bar" />}>
            {({ Finder }) => (
              <Finder
                {...shared}
                wanted={wanted}
                onWant={setWanted}
                onFound={setFound}
                onStep={step}
                box={box}
                onColumns={setColumns}
                isHelpOpen={isHelpOpen}
                onHelp={() => setHelp(!isHelpOpen)}
              />
            )}
          </Dressed>
          <GraphList
            {...shared}
            onSelect={select}
            onRead={() => setRead(true)}
            onCheckOut={checkOut}
            onAction={onAction}
            marked={sight.against}
            naming={
              tools && naming !== undefined
                ? {
                    key: naming,
                    field: (
                      <tools.CheckpointName
                        onName={(name) => attempt(() => engine.checkpoint(name, { at: naming }))}
                        onClose={stopNaming}
                      />
                    ),
                  }
                : undefined
            }
            onChoose={setChoices}
            takesFocus={hasBeenRead && naming === undefined}
          />
          {isHelpOpen && tools?.keysHelp(state)}
          <footer className="bar">
            <span className="grow ellipsis">{countLine(model.nodes.length, state.branches.length)}</span>
            {key !== undefined && (
              <button className="quiet" onClick={() => select()}>
                Follow
              </button>
            )}
          </footer>
        </div>
      )}
      {isNodeShown && (
        <Dressed meanwhile={<p className="words node">Loading…</p>}>
          {({ Node }) => (
            <Node
              key={key}
              {...props}
              messageKey={key}
              onBack={isNarrow ? back : undefined}
              isTall={isTall}
              onCheckOut={() => checkOut(key)}
              attempt={attempt}
            />
          )}
        </Dressed>
      )}
    </div>
  );
}

function rememberedColumns(): readonly ColumnName[] {
  // Damaged data names no known column.
  const known = String(recall().columns);
  return COLUMNS.filter((name) => known.includes(name));
}

function useModel(engine: ContextEngine, state: EngineState): GraphModel {
  const { revision, branches, checkpoints, headKey } = state;
  const branchHead = branches.find((branch) => branch.isActive)?.headKey;
  const question = parentOf({ engine, revision }, headKey);
  const nodes = useMemo(() => nodesAt({ engine, revision }), [engine, revision]);
  return useMemo(
    () => graphModel(nodes, branches, checkpoints, [branchHead, headKey, question]),
    [nodes, branches, checkpoints, branchHead, headKey, question],
  );
}

/**
 * The inputs of a query of the engine: a compiler that caches results for equal arguments must see that a later revision may
 * give another result.
 */
interface Moment extends Pick<ViewProps, 'engine'>, Pick<EngineState, 'revision'> {}

function nodesAt({ engine }: Moment): GraphModel['nodes'] {
  return engine.graph().nodes;
}

function parentOf({ engine }: Moment, key: string | undefined): string | null | undefined {
  return engine.node(key ?? '')?.parentKey;
}

function countLine(messages: number, branches: number): string {
  return `${counted(messages, 'message')} - ${counted(branches, 'branch', 'branches')}`;
}

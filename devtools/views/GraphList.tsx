import type { ContextEngine, EngineState } from 'contextree';
import { type ReactNode, useMemo } from 'react';
import { Dressed } from '../Dressed.tsx';
import { canFold, forkRows, type GraphModel, isFolded, ShownRows, shownFor } from '../graphRows.ts';
import type { ColumnName } from '../columns.ts';
import { Rows } from './Rows.tsx';
import { type Fold, messageAt, Row } from './GraphRow.tsx';

/** The rows of the graph: a list with one Tab stop; only visible rows are mounted. */
export function GraphList(props: GraphListProps): ReactNode {
  const { engine, model, state, selected, onSelect, onRead, onCheckOut, choices, onChoose } = props;
  const { onAction, found, marked, naming, columns = [], takesFocus } = props;
  const { branches, headKey: hereKey, revision, loadedFrom } = state;
  const rows = useMemo(() => new ShownRows(model, choices), [model, choices]);
  const hits = useMemo(() => found && new Set(found), [found]);
  // A row says more of a message that is loaded.
  const moment = { engine, model, headKey: hereKey, revision, loadedFrom };

  // An answer without content has no row yet; then its question stands for it.
  const question = engine.node(hereKey ?? '')?.parentKey;
  const { places, lanes } = model;
  const at = places.of(selected ?? hereKey) ?? places.of(question) ?? lanes.order[0]?.first ?? 0;
  const cursor = rows.of(shownFor(model, choices, at));

  const keyAtRow = (row: number): string => model.nodes[rows.at(row)]?.key ?? '';
  const moveTo = (row: number): void => onSelect(keyAtRow(row));
  const fold = (row: number, folded: boolean): true => {
    moveTo(row);
    onChoose(new Map(choices).set(keyAtRow(row), folded));
    return true;
  };
  const read = (row: number): true => {
    moveTo(row);
    onRead(keyAtRow(row));
    return true;
  };
  const onKey = (key: string): number | boolean => {
    const node = rows.at(cursor);
    const shown = foldOf(model, choices, node);
    if (key === ' ') return read(cursor);
    if (key === 'ArrowRight' && shown === 'folded') return fold(cursor, false);
    if (key === 'ArrowLeft' && shown === 'open') return fold(cursor, true);
    if (key === '[' || key === ']') return forkAfter(key, cursor, forkRows(model, rows));
    const above = model.lanes.parent(node);
    if (key === 'ArrowLeft') return above === undefined ? cursor : rows.of(above);
    if (key !== 'Enter') return onAction?.(key, keyAtRow(cursor)) ?? false;
    onCheckOut(keyAtRow(cursor));
    return true;
  };
  const onClick = (row: number, target: Element): void => {
    if (target.closest('.fold')) fold(row, !isFolded(model, choices, rows.at(row)));
    else read(row);
  };

  return (
    <>
      {columns.length > 0 && <Dressed>{({ columnHeads }) => columnHeads(columns)}</Dressed>}
      <Rows
        className="graph"
        role="treegrid"
        label="Messages of the chat"
        count={rows.count}
        cursor={cursor}
        followed={model.nodes[at]?.key}
        onMove={moveTo}
        onKey={onKey}
        onClick={onClick}
        takesFocus={takesFocus}
      >
        {(row, box) => {
          const node = rows.at(row);
          const { key } = messageAt(model, node);
          return (
            <Row
              key={key}
              box={box}
              moment={moment}
              node={node}
              branches={branches}
              isCursor={row === cursor}
              isHit={hits?.has(key)}
              isMarked={key === marked}
              fold={foldOf(model, choices, node)}
              naming={key === naming?.key ? naming.field : undefined}
            >
              {columns.length > 0 && (
                <Dressed>
                  {({ Cells }) => (
                    <Cells engine={engine} messageKey={key} revision={revision} columns={columns} />
                  )}
                </Dressed>
              )}
            </Row>
          );
        }}
      </Rows>
    </>
  );
}

/** The next or the previous fork's row; where there is none, the row stays. */
function forkAfter(key: string, row: number, forks: readonly number[]): number {
  const next = key === ']' ? forks.find((fork) => fork > row) : forks.findLast((fork) => fork < row);
  return next ?? row;
}

function foldOf(model: GraphModel, choices: ReadonlyMap<string, boolean>, node: number): Fold {
  if (!canFold(model, node)) return 'none';
  return isFolded(model, choices, node) ? 'folded' : 'open';
}

interface GraphListProps {
  readonly engine: ContextEngine;
  readonly model: GraphModel;
  /** The part of the state that rows need, of now or of an earlier time. */
  readonly state: Pick<EngineState, 'branches' | 'headKey' | 'revision' | 'loadedFrom'>;
  /** The selected message; undefined while the graph follows what the app shows. */
  readonly selected: string | undefined;
  readonly onSelect: (key: string) => void;
  /** Called when a person wants to read a message, which is selected by then. */
  readonly onRead: (key: string) => void;
  readonly onCheckOut: (key: string) => void;
  /** Called with a key pressed on a message; returns whether it has a meaning. */
  readonly onAction?: (pressed: string, key: string) => boolean;
  /** The keys of the hits; undefined without a search. */
  readonly found?: readonly string[] | undefined;
  /** What was folded or unfolded, by key. */
  readonly choices: ReadonlyMap<string, boolean>;
  readonly onChoose: (choices: ReadonlyMap<string, boolean>) => void;
  /** The message marked for comparison. */
  readonly marked?: string | undefined;
  /** The message that is being named as a checkpoint. */
  readonly naming?: { readonly key: string; readonly field: ReactNode } | undefined;
  /** The columns that a person chose, in order. */
  readonly columns?: readonly ColumnName[];
  /** Whether the list takes the focus back. */
  readonly takesFocus?: boolean;
}

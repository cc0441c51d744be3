import type { ContextEngine, EngineState } from 'contextree';
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useId,
  useMemo,
  useRef,
} from 'react';
import { Dressed } from '../Dressed.tsx';
import { canFold, forkRows, type GraphModel, isFolded, shownFor, visibleRows } from '../graphRows.ts';
import { useRowHeight } from '../rowHeight.ts';
import { type Moment, type RowState, rowState } from '../rowState.ts';
import { rowAfterKey, useRowWindow } from '../windowing.ts';
import type { ColumnName } from '../columns.ts';
import { type Fold, lineOf, messageAt, Row, type RowPlace } from './GraphRow.tsx';

/** The rows of the graph: a list with one Tab stop; only visible rows are mounted. */
export function GraphList(props: GraphListProps): ReactNode {
  const { engine, model, state, selected, onSelect, onRead, onCheckOut, choices, onFold } = props;
  const { onAction, found, marked, naming, columns, takesFocus } = props;
  const { branches, headKey: hereKey, revision } = state;
  const idPrefix = useId();
  const rows = useMemo(() => visibleRows(model, choices), [model, choices]);
  const rowOf = useMemo(() => rowByNode(rows, model.nodes.length), [rows, model]);
  const height = useRowHeight();
  const { ref, onScroll, first, end, page, reveal } = useRowWindow(rows.length, height);
  const hits = useMemo(() => found && new Set(found), [found]);
  const moment = useMemo(
    () => ({ engine, model, headKey: hereKey, revision }),
    [engine, model, hereKey, revision],
  );

  const shownRow = (key: string | undefined): number => {
    const node = model.indexOf.get(key ?? '') ?? model.lanes.order[0] ?? 0;
    return rowOf[shownFor(model, choices, node)] ?? 0;
  };
  const cursor = shownRow(selected ?? hereKey);
  useFollow(selected ?? hereKey, () => reveal(cursor));
  useEffect(() => {
    if (takesFocus) ref.current?.focus();
  }, [takesFocus, ref]);

  const keyAtRow = (row: number): string => model.nodes[rows[row] ?? 0]?.key ?? '';
  const moveTo = (row: number): void => {
    onSelect(keyAtRow(row));
    reveal(row);
  };
  const fold = (row: number, folded: boolean): void => {
    onSelect(keyAtRow(row));
    onFold(keyAtRow(row), folded);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
    const target = rowAfterKey(event.key, cursor, rows.length, page);
    const node = rows[cursor] as number;
    if (target !== undefined) moveTo(target);
    else if (event.key === 'Enter') onCheckOut(keyAtRow(cursor));
    else if (event.key === ' ') {
      moveTo(cursor);
      onRead(keyAtRow(cursor));
    } else if (event.key === 'ArrowRight' && isFolded(model, choices, node)) fold(cursor, false);
    else if (event.key === 'ArrowLeft' && canFold(model, node) && !isFolded(model, choices, node))
      fold(cursor, true);
    else if (event.key === '[' || event.key === ']')
      moveTo(forkAfter(event.key, cursor, forkRows(model, rows)));
    else if (onAction(event.key, keyAtRow(cursor))) event.preventDefault();
    else if (event.key === 'ArrowLeft') moveTo(rowOf[model.lanes.parent[node] as number] ?? cursor);
    else return;
    event.preventDefault();
  };
  const onClick = (event: MouseEvent): void => {
    const row = rowOfEvent(event);
    if (row === undefined) return;
    if ((event.target as Element).closest('.fold')) fold(row, !isFolded(model, choices, rows[row] as number));
    else {
      onSelect(keyAtRow(row));
      onRead(keyAtRow(row));
    }
  };

  const mounted = Array.from({ length: end - first }, (_, i) => first + i);
  return (
    <>
      {columns.length > 0 && <Dressed>{({ Heads }) => <Heads columns={columns} />}</Dressed>}
      <div
        ref={ref}
        className="rows graph"
        role="treegrid"
        aria-label="Messages of the chat"
        aria-rowcount={rows.length}
        aria-activedescendant={cursor >= first && cursor < end ? `${idPrefix}${cursor}` : undefined}
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
        onClick={onClick}
      >
        <div role="presentation" style={{ height: rows.length * height }}>
          {mounted.map((row) => {
            const node = rows[row] as number;
            const message = messageAt(model, node);
            return (
              <Row
                key={message.key}
                id={`${idPrefix}${row}`}
                row={row}
                height={height}
                model={model}
                node={node}
                branches={branches}
                {...seenAt(moment, message)}
                isHere={message.key === hereKey}
                isCursor={row === cursor}
                isHit={hits?.has(message.key)}
                isMarked={message.key === marked}
                fold={foldOf(model, choices, node)}
                naming={message.key === naming?.key ? naming.field : undefined}
              >
                {columns.length > 0 && (
                  <Dressed>
                    {({ Cells }) => (
                      <Cells engine={engine} messageKey={message.key} revision={revision} columns={columns} />
                    )}
                  </Dressed>
                )}
              </Row>
            );
          })}
        </div>
      </div>
    </>
  );
}

/** Scrolls to another message when that is selected, or shown by the app while none is: it may be anywhere. */
function useFollow(key: string | undefined, reveal: () => void): void {
  const before = useRef<string | undefined>('');
  useEffect(() => {
    if (before.current !== key) reveal();
    before.current = key;
  });
}

/** The next or the previous fork's row; where there is none, the row stays. */
function forkAfter(key: string, row: number, forks: readonly number[]): number {
  const next = key === ']' ? forks.find((fork) => fork > row) : forks.findLast((fork) => fork < row);
  return next ?? row;
}

function rowByNode(rows: Int32Array, nodes: number): Int32Array {
  const rowOf = new Int32Array(nodes);
  for (let row = 0; row < rows.length; row += 1) rowOf[rows[row] as number] = row;
  return rowOf;
}

function rowOfEvent(event: MouseEvent): number | undefined {
  const row = (event.target as Element).closest<HTMLElement>('[data-row]')?.dataset['row'];
  return row === undefined ? undefined : Number(row);
}

function foldOf(model: GraphModel, choices: ReadonlyMap<string, boolean>, node: number): Fold {
  if (!canFold(model, node)) return 'none';
  return isFolded(model, choices, node) ? 'folded' : 'open';
}

interface GraphListProps {
  readonly engine: ContextEngine;
  readonly model: GraphModel;
  /** The part of the state that rows need, of now or of an earlier time. */
  readonly state: Pick<EngineState, 'branches' | 'headKey' | 'revision'>;
  /** The selected message; undefined while the graph follows what the app shows. */
  readonly selected: string | undefined;
  readonly onSelect: (key: string) => void;
  /** Called when a person wants to read a message, which is selected by then. */
  readonly onRead: (key: string) => void;
  readonly onCheckOut: (key: string) => void;
  /** Called with a key pressed on a message; returns whether it has a meaning. */
  readonly onAction: (pressed: string, key: string) => boolean;
  /** The keys of the hits; undefined without a search. */
  readonly found: readonly string[] | undefined;
  /** What was folded or unfolded, by key. */
  readonly choices: ReadonlyMap<string, boolean>;
  readonly onFold: (key: string, isFolded: boolean) => void;
  /** The message marked for comparison. */
  readonly marked: string | undefined;
  /** The message that is being named as a checkpoint. */
  readonly naming: { readonly key: string; readonly field: ReactNode } | undefined;
  /** The columns that a person chose, in order. */
  readonly columns: readonly ColumnName[];
  /** Whether the list takes the focus back. */
  readonly takesFocus: boolean;
}

/** What a row reads of the engine. */
function seenAt(
  moment: Moment & { readonly revision: number },
  message: GraphModel['nodes'][number],
): {
  readonly place: RowPlace;
  readonly state: RowState | undefined;
  readonly line: string;
  readonly kinds: string;
} {
  const { engine } = moment;
  const { key } = message;
  const { index, keys } = engine.siblings(key);
  const isVersion = keys.length > 1;
  const parts: readonly unknown[] = engine.message(key)?.parts ?? [];
  const words: unknown = parts.map((part) => Object(part).text).find((text) => text);
  const kinds = new Set(parts.map((part) => Object(part).type).filter((type) => type !== 'step-start'));
  return {
    place: {
      depth: engine.node(key)?.depth ?? 1,
      position: isVersion ? index + 1 : undefined,
      count: isVersion ? keys.length : undefined,
    },
    state: rowState(moment, key),
    line: lineOf(message, typeof words === 'string' ? words : undefined),
    kinds: [...kinds].join(', '),
  };
}

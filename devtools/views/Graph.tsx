import type {
  BranchInfo,
  CheckpointInfo,
  ContextEngine,
  EngineState,
  InspectOptions,
  MessageStatus,
} from 'contextree';
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import {
  canFold,
  type GraphModel,
  graphModel,
  headsWithin,
  isFolded,
  passingColours,
  shownFor,
  visibleRows,
} from '../graphRows.ts';
import { plainLine } from '../plainLine.ts';
import { useRowHeight } from '../rowHeight.ts';
import { branchColour } from '../theme.ts';
import { rowAfterKey, useRowWindow } from '../windowing.ts';

/** What every view is given: an engine, and its state as of the last frame. */
export interface ViewProps {
  readonly engine: ContextEngine;
  readonly state: EngineState;
  /** Whose prices and limits to show. */
  readonly modelId?: string | undefined;
  /** What counts tokens, instead of the estimate. */
  readonly tokenizer?: InspectOptions['tokenizer'];
}

/** The conversation as rows and lanes. Looking moves a cursor; Enter and a click check a message out. */
export function Graph({ engine, state }: ViewProps): ReactNode {
  const model = useModel(engine, state);
  if (model.nodes.length === 0) return <Empty state={state} />;
  return <Rows engine={engine} model={model} branches={state.branches} hereId={state.headMessageId} />;
}

function useModel(engine: ContextEngine, state: EngineState): GraphModel {
  const { revision, branches, checkpoints, headMessageId, messages } = state;
  // A draft changes the words of a message and not the graph.
  const nodes = useMemo(() => nodesAt({ engine, revision, messages }), [engine, revision, messages]);
  const branchHead = branches.find((branch) => branch.isActive)?.headMessageId;
  const lastShown = messages.at(-1)?.id;
  return useMemo(
    () => graphModel(nodes, branches, checkpoints, [branchHead, headMessageId, lastShown]),
    [nodes, branches, checkpoints, branchHead, headMessageId, lastShown],
  );
}

/**
 * What the engine is asked takes the moment along: a compiler that remembers results for equal arguments must see that
 * another moment may have another answer.
 */
interface Moment extends Pick<ViewProps, 'engine'>, Pick<EngineState, 'revision' | 'messages'> {}

function nodesAt({ engine }: Moment): GraphModel['nodes'] {
  return engine.graph().nodes;
}

function statusAt(
  { engine }: { readonly engine: ContextEngine; readonly model: GraphModel },
  id: string,
): MessageStatus | undefined {
  return engine.status(id);
}

function Empty({ state }: { readonly state: EngineState }): ReactNode {
  if (state.status === 'loading') return <p className="words">Reading the chat…</p>;
  if (state.status === 'error')
    return <p className="words">The chat could not be read: {state.error?.message}</p>;
  return <p className="words">No messages yet. Each message will be a row here, each branch a line.</p>;
}

interface RowsProps {
  readonly engine: ContextEngine;
  readonly model: GraphModel;
  readonly branches: readonly BranchInfo[];
  /** The message shown last by the app: the head, or what was checked out. */
  readonly hereId: string | undefined;
}

function Rows({ engine, model, branches, hereId }: RowsProps): ReactNode {
  const idPrefix = useId();
  const [choices, setChoices] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [cursorId, setCursorId] = useState(hereId);
  const [failure, setFailure] = useState<string>();
  const rows = useMemo(() => visibleRows(model, choices), [model, choices]);
  const rowOf = useMemo(() => rowByNode(rows, model.nodes.length), [rows, model]);
  const height = useRowHeight();
  const { ref, onScroll, first, end, page, reveal } = useRowWindow(rows.length, height);

  const shownRow = (id: string | undefined): number => {
    const node = model.indexOf.get(id ?? '') ?? model.lanes.order[0] ?? 0;
    return rowOf[shownFor(model, choices, node)] ?? 0;
  };
  const cursor = shownRow(model.indexOf.has(cursorId ?? '') ? cursorId : hereId);
  const hereRow = shownRow(hereId);

  const isHereSeen = hereRow >= first && hereRow < end;
  useFollow(hereId, isHereSeen || cursorId === hereId, () => reveal(hereRow));

  const idAt = (row: number): string => model.nodes[rows[row] ?? 0]?.id ?? '';
  const moveTo = (row: number): void => {
    setCursorId(idAt(row));
    reveal(row);
  };
  const fold = (row: number, folded: boolean): void => {
    setCursorId(idAt(row));
    setChoices(new Map(choices).set(idAt(row), folded));
  };
  const checkOut = (row: number): void => {
    setCursorId(idAt(row));
    engine.checkout(idAt(row)).then(
      () => setFailure(undefined),
      (error: unknown) => setFailure(error instanceof Error ? error.message : String(error)),
    );
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
    const target = rowAfterKey(event.key, cursor, rows.length, page);
    const node = rows[cursor] as number;
    if (target !== undefined) moveTo(target);
    else if (event.key === 'Enter') checkOut(cursor);
    else if (event.key === 'ArrowRight' && isFolded(model, choices, node)) fold(cursor, false);
    else if (event.key === 'ArrowLeft' && canFold(model, node) && !isFolded(model, choices, node))
      fold(cursor, true);
    else if (event.key === 'ArrowLeft') moveTo(rowOf[model.lanes.parent[node] as number] ?? cursor);
    else return;
    event.preventDefault();
  };
  const onClick = (event: MouseEvent): void => {
    const row = rowOfEvent(event);
    if (row === undefined) return;
    if ((event.target as Element).closest('.fold')) fold(row, !isFolded(model, choices, rows[row] as number));
    else checkOut(row);
  };

  const mounted = Array.from({ length: end - first }, (_, i) => first + i);
  return (
    <>
      {failure !== undefined && (
        <p className="alert" role="alert">
          {failure}
        </p>
      )}
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
                key={message.id}
                id={`${idPrefix}${row}`}
                row={row}
                height={height}
                model={model}
                node={node}
                branches={branches}
                status={statusAt({ engine, model }, message.id)}
                isHere={message.id === hereId}
                isCursor={row === cursor}
                fold={foldOf(model, choices, node)}
              />
            );
          })}
        </div>
      </div>
      <footer className="bar">{countLine(model.nodes.length, branches.length)}</footer>
    </>
  );
}

/** Scrolls along when what is shown changes, unless the person has scrolled away from it. */
function useFollow(hereId: string | undefined, isSeen: boolean, revealHere: () => void): void {
  const before = useRef<{ readonly id: string | undefined; readonly isSeen: boolean }>({
    id: '',
    isSeen: true,
  });
  useEffect(() => {
    const follows = before.current.id !== hereId && (before.current.isSeen || isSeen);
    before.current = { id: hereId, isSeen: isSeen || follows };
    if (follows) revealHere();
  });
}

function messageAt(model: GraphModel, node: number): GraphModel['nodes'][number] {
  return model.nodes[node] as GraphModel['nodes'][number];
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

type Fold = 'none' | 'open' | 'folded';

function foldOf(model: GraphModel, choices: ReadonlyMap<string, boolean>, node: number): Fold {
  if (!canFold(model, node)) return 'none';
  return isFolded(model, choices, node) ? 'folded' : 'open';
}

function countLine(messages: number, branches: number): string {
  return `${counted(messages, 'message', 'messages')} - ${counted(branches, 'branch', 'branches')}`;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

interface RowProps {
  readonly id: string;
  readonly row: number;
  readonly height: number;
  readonly model: GraphModel;
  readonly node: number;
  readonly branches: readonly BranchInfo[];
  readonly status: MessageStatus | undefined;
  readonly isHere: boolean;
  readonly isCursor: boolean;
  readonly fold: Fold;
}

function Row({
  id,
  row,
  height,
  model,
  node,
  branches,
  status,
  isHere,
  isCursor,
  fold,
}: RowProps): ReactNode {
  const message = messageAt(model, node);
  const lane = model.lanes.lane[node] as number;
  const heads = fold === 'folded' ? headsWithin(model, node) : (model.heads.get(node) ?? []);
  const checkpoints = model.checkpoints.get(node) ?? [];
  const hidden = (model.lanes.size[node] as number) - 1;
  const classes = ['row', message.role, status, lane > 0 && 'aside', isHere && 'here', isCursor && 'cursor'];
  return (
    <div
      id={id}
      data-row={row}
      className={classes.filter(Boolean).join(' ')}
      style={{ top: row * height, height }}
      role="row"
      aria-rowindex={row + 1}
      aria-level={lane + 1}
      aria-selected={isCursor}
      aria-current={isHere ? 'true' : undefined}
      aria-expanded={fold === 'none' ? undefined : fold === 'open'}
      title={`${message.role} - ${new Date(message.createdAt).toLocaleString()}\n${message.content}`}
    >
      <Glyphs
        model={model}
        node={node}
        height={height}
        isFolded={fold === 'folded'}
        isCheckpoint={checkpoints.length > 0}
      />
      <span role="gridcell" className="message">
        {fold !== 'none' && <FoldButton isOpen={fold === 'open'} hidden={hidden} />}
        <span className="unseen">{message.role}: </span>
        <Preview line={plainLine(message.role, message.content)} />
        <Status status={status} />
      </span>
      <span role="gridcell" className="marks">
        <Checkpoints at={checkpoints} />
        <Heads of={heads} branches={branches} />
      </span>
    </div>
  );
}

function Preview({ line }: { readonly line: string }): ReactNode {
  return line ? <span className="preview">{line}</span> : <span className="preview wordless">no text</span>;
}

function Status({ status }: { readonly status: MessageStatus | undefined }): ReactNode {
  return status === 'streaming' || status === 'interrupted' ? (
    <span className={`state ${status}`}>{status}</span>
  ) : null;
}

/** For the mouse; the keyboard folds with the arrow keys, so the list stays one stop of the Tab key. */
function FoldButton({ isOpen, hidden }: { readonly isOpen: boolean; readonly hidden: number }): ReactNode {
  return (
    <button
      type="button"
      className="fold"
      tabIndex={-1}
      aria-label={`${isOpen ? 'Fold' : 'Unfold'} ${hidden} more`}
    >
      {isOpen ? '▾' : `▸ ${hidden}`}
    </button>
  );
}

function Checkpoints({ at }: { readonly at: readonly CheckpointInfo[] }): ReactNode {
  return at.map(({ id, name }) => (
    <span key={id} className="mark point" title={`Checkpoint ${name}`}>
      <span className="unseen">checkpoint </span>◆ {name}
    </span>
  ));
}

/** Labels that fit on a row; a folded way may hide many heads. */
const LABELS = 3;

function Heads({
  of,
  branches,
}: {
  readonly of: readonly BranchInfo[];
  readonly branches: readonly BranchInfo[];
}): ReactNode {
  const rest = of.length - LABELS;
  return (
    <>
      {of.slice(0, LABELS).map((branch) => (
        <Head key={branch.id} branch={branch} colour={branchColour(branches.indexOf(branch))} />
      ))}
      {rest > 0 && <span className="muted">+{rest}</span>}
    </>
  );
}

function Head({ branch, colour }: { readonly branch: BranchInfo; readonly colour: string }): ReactNode {
  const style = branch.isActive ? { background: colour, borderColor: colour } : { borderColor: colour };
  return (
    <span className={branch.isActive ? 'mark active' : 'mark'} style={style} title={`Branch ${branch.name}`}>
      <span className="unseen">
        {branch.isActive ? 'active branch' : 'branch'} {branch.name}
      </span>
      <span aria-hidden="true">{shortened(branch.name)}</span>
    </span>
  );
}

/** Branches of branches are named alike at the beginning and differ at the end, so it is the middle that goes. */
function shortened(name: string): string {
  return name.length > 16 ? `${name.slice(0, 5)}…${name.slice(-9)}` : name;
}

/** The distance of two lanes, in CSS pixels. */
const LANE = 14;

const laneX = (lane: number): number => 10 + lane * LANE;

interface GlyphsProps {
  readonly model: GraphModel;
  readonly node: number;
  readonly height: number;
  readonly isFolded: boolean;
  readonly isCheckpoint: boolean;
}

/** The lines of one row, drawn from its own numbers: what passes on the left, where it comes from, where it goes. */
function Glyphs({ model, node, height, isFolded, isCheckpoint }: GlyphsProps): ReactNode {
  const { lanes } = model;
  const middle = height / 2;
  const lane = lanes.lane[node] as number;
  const x = laneX(lane);
  const own = branchColour(model.colour[node] as number);
  const next = lanes.next[node] as number;
  return (
    <svg width={x + 10} height={height} aria-hidden="true">
      {passingColours(model, node).map((colour, left) => (
        <line
          key={left}
          className="lane"
          stroke={branchColour(colour)}
          x1={laneX(left)}
          x2={laneX(left)}
          y2={height}
        />
      ))}
      <path className="lane" stroke={own} d={arrival(model, node, middle)} />
      {next >= 0 && !isFolded && (
        <path
          className="lane"
          stroke={branchColour(model.colour[next] as number)}
          d={`M${x} ${middle}V${height}`}
        />
      )}
      {isFolded && (
        <path className="lane" stroke={own} strokeDasharray="2 2" d={`M${x} ${middle}V${height}`} />
      )}
      <Dot
        x={x}
        middle={middle}
        role={messageAt(model, node).role}
        colour={own}
        isCheckpoint={isCheckpoint}
      />
    </svg>
  );
}

/** The line that leads to a message: straight down its lane, or a curve from the lane it parts from. */
function arrival({ lanes }: GraphModel, node: number, middle: number): string {
  const x = laneX(lanes.lane[node] as number);
  if ((lanes.parent[node] as number) < 0) return '';
  if (lanes.start[node] !== node) return `M${x} 0V${middle}`;
  return `M${x - LANE} 0Q${x - LANE} ${middle} ${x} ${middle}`;
}

interface DotProps {
  readonly x: number;
  readonly middle: number;
  readonly role: string;
  readonly colour: string;
  readonly isCheckpoint: boolean;
}

/** Shape tells what colour can't: hollow for what a person said, filled for an answer, a diamond for a checkpoint. */
function Dot({ x, middle, role, colour, isCheckpoint }: DotProps): ReactNode {
  const fill = role === 'user' ? 'var(--ground)' : colour;
  if (isCheckpoint) {
    return <path className="dot" fill={fill} stroke={colour} d={`M${x} ${middle - 6}l6 6-6 6-6-6z`} />;
  }
  if (role === 'system') {
    return (
      <rect className="dot" fill={fill} stroke={colour} x={x - 3.5} y={middle - 3.5} width={7} height={7} />
    );
  }
  return <circle className="dot" fill={fill} stroke={colour} cx={x} cy={middle} r={4} />;
}

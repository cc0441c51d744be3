import type { CheckpointInfo, EngineState } from 'contextree';
import type { ReactNode } from 'react';
import { type GraphModel, headsWithin } from '../graphRows.ts';
import { plainLine } from '../plainLine.ts';
import type { RowState } from '../rowState.ts';
import { Glyphs } from './Glyphs.tsx';
import { BothEnds, BranchMark } from './Label.tsx';

/** One message as a row of the graph: the lines of its lanes, its first words, and what ends or stands at it. */
export function Row(props: RowProps): ReactNode {
  const { id, row, height, model, node, place, state, line, kinds, branches, children, naming } = props;
  const { isHere, isCursor, isHit, isMarked, fold } = props;
  const message = messageAt(model, node);
  const lane = model.lanes.lane[node] as number;
  const heads = fold === 'folded' ? headsWithin(model, node) : (model.heads.get(node) ?? []);
  const checkpoints = model.checkpoints.get(node) ?? [];
  const hidden = (model.lanes.size[node] as number) - 1;
  const classes = [
    'row',
    message.role,
    state === 'growing' && 'streaming',
    lane > 0 && 'aside',
    isHere && 'here',
    isCursor && 'cursor',
    isHit === false && 'miss',
  ];
  return (
    <div
      id={id}
      data-row={row}
      className={classes.filter(Boolean).join(' ')}
      style={{ top: row * height, height }}
      role="row"
      aria-rowindex={row + 1}
      aria-level={place.depth}
      aria-posinset={place.position}
      aria-setsize={place.count}
      aria-selected={isCursor}
      aria-current={isHere ? 'true' : undefined}
      aria-expanded={fold === 'none' ? undefined : fold === 'open'}
      title={`${message.role} - ${new Date(message.createdAt).toLocaleString()}`}
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
        <Preview line={line} kinds={kinds} />
        {state && <span className={`state ${state.replaceAll(' ', '-')}`}>{state}</span>}
      </span>
      <span role="gridcell" className="marks">
        {naming ?? <Checkpoints at={checkpoints} />}
        {isMarked && (
          <span className="mark point">
            ≠<span className="unseen"> compare</span>
          </span>
        )}
        <Heads of={heads} branches={branches} />
      </span>
      {children}
    </div>
  );
}

interface RowProps {
  readonly id: string;
  readonly row: number;
  readonly height: number;
  readonly model: GraphModel;
  readonly node: number;
  readonly place: RowPlace;
  readonly state: RowState | undefined;
  /** Its first words, as many as are at hand. */
  readonly line: string;
  /** What it is made of, where it has no words. */
  readonly kinds: string;
  readonly branches: EngineState['branches'];
  readonly isHere: boolean;
  readonly isCursor: boolean;
  /** Whether it was found; undefined while nothing is looked for. */
  readonly isHit: boolean | undefined;
  /** Whether others are to be compared with it. */
  readonly isMarked: boolean;
  readonly fold: Fold;
  /** Where it is about to be named as a checkpoint: what takes the name. */
  readonly naming: ReactNode;
  /** The columns that a person chose. */
  readonly children: ReactNode;
}

/** Where a message stands: messages from the first one on, and which of its versions it is, of how many. */
export interface RowPlace {
  readonly depth: number;
  readonly position: number | undefined;
  readonly count: number | undefined;
}

/** Whether what stands behind a row can be folded away, and is. */
export type Fold = 'none' | 'open' | 'folded';

/** A message of the graph, by its node. */
export function messageAt(model: GraphModel, node: number): GraphModel['nodes'][number] {
  return model.nodes[node] as GraphModel['nodes'][number];
}

/** The first words of a message, as a person would read them; `words` are more of them, where they are loaded. */
export function lineOf({ role, content }: GraphModel['nodes'][number], words: string | undefined): string {
  const begin = content.endsWith('...') ? content.slice(0, -3) : undefined;
  const more = begin === undefined ? undefined : words?.slice(0, LINE).replaceAll(/[^\S ]/g, ' ');
  return plainLine(role, begin !== undefined && more?.startsWith(begin) ? more : content);
}

/** More characters than a row has room for. */
const LINE = 300;

function Preview({ line, kinds }: Pick<RowProps, 'line' | 'kinds'>): ReactNode {
  return line ? (
    <span className="preview" dir="auto">
      {line}
    </span>
  ) : (
    <span className="preview wordless">{kinds || 'no text'}</span>
  );
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
      <span className="unseen">checkpoint {name}</span>
      <span aria-hidden="true" className="diamond">
        ◆
      </span>
      <BothEnds text={name} />
    </span>
  ));
}

/** Labels that fit on a row; a folded way may hide many heads. */
const LABELS = 3;

function Heads({
  of,
  branches,
}: {
  readonly of: RowProps['branches'];
  readonly branches: RowProps['branches'];
}): ReactNode {
  const rest = of.length - LABELS;
  return (
    <>
      {of.slice(0, LABELS).map((branch) => (
        <BranchMark key={branch.id} branch={branch} index={branches.indexOf(branch)} />
      ))}
      {rest > 0 && <span className="muted">+{rest}</span>}
    </>
  );
}

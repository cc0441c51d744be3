import type { RowBox } from './Rows.tsx';
import type { CheckpointInfo, EngineState } from 'contextree';
import type { ReactNode } from 'react';
import { type GraphModel, headsWithin } from '../graphRows.ts';
import { plainLine } from '../plainLine.ts';
import type { RowState } from '../rowState.ts';
import { Glyphs } from './Glyphs.tsx';
import { bothEnds, branchMark } from './Label.tsx';

/** One message as a row of the graph: the lines of its lanes, its first words, and its branches and checkpoints. */
export function Row(props: RowProps): ReactNode {
  const { box, model, node, place, state, line, kinds, branches, children, naming } = props;
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
      {...box}
      className={classes.filter(Boolean).join(' ')}
      role="row"
      aria-rowindex={box['data-row'] + 1}
      aria-level={place.depth}
      aria-posinset={place.position}
      aria-setsize={place.count}
      aria-selected={isCursor}
      aria-current={isHere ? 'true' : undefined}
      aria-expanded={fold === 'none' ? undefined : fold === 'open'}
    >
      <Glyphs
        model={model}
        node={node}
        height={box.style.height}
        isFolded={fold === 'folded'}
        isCheckpoint={checkpoints.length > 0}
      />
      <span role="gridcell" className="message">
        {fold !== 'none' && foldButton(fold === 'open', hidden)}
        <span className="unseen">{message.role}: </span>
        {previewOf(line, kinds)}
        {state && <span className={`state ${state.replaceAll(' ', '-')}`}>{state}</span>}
      </span>
      <span role="gridcell" className="marks">
        {naming ?? checkpoints.map(pointOf)}
        {isMarked && (
          <span className="mark point">
            ≠<span className="unseen"> compare</span>
          </span>
        )}
        {headsOf(heads, branches)}
      </span>
      {children}
    </div>
  );
}

interface RowProps {
  readonly box: RowBox;
  readonly model: GraphModel;
  readonly node: number;
  readonly place: RowPlace;
  readonly state: RowState | undefined;
  /** Its first words, as many as are loaded. */
  readonly line: string;
  /** The kinds of its parts, if it has no text. */
  readonly kinds: string;
  readonly branches: EngineState['branches'];
  readonly isHere: boolean;
  readonly isCursor: boolean;
  /** Whether it is a hit; undefined without a search. */
  readonly isHit: boolean | undefined;
  /** Whether it is marked for comparison. */
  readonly isMarked: boolean;
  readonly fold: Fold;
  /** The field for the name of a new checkpoint at this message. */
  readonly naming: ReactNode;
  /** The columns that a person chose. */
  readonly children: ReactNode;
}

/** The place of a message: its depth, and its number among its versions. */
export interface RowPlace {
  readonly depth: number;
  readonly position: number | undefined;
  readonly count: number | undefined;
}

/** Whether a row's descendants can be folded, and are. */
export type Fold = 'none' | 'open' | 'folded';

/** A message of the graph, by its node. */
export function messageAt(model: GraphModel, node: number): GraphModel['nodes'][number] {
  return model.nodes[node] as GraphModel['nodes'][number];
}

/** The first words of a message, as a person would read them; `words` are more of them, if loaded. */
export function lineOf({ role, content }: GraphModel['nodes'][number], words: string | undefined): string {
  const begin = content.endsWith('...') ? content.slice(0, -3) : undefined;
  const more = begin === undefined ? undefined : words?.slice(0, LINE).replaceAll(/[^\S ]/g, ' ');
  return plainLine(role, begin !== undefined && more?.startsWith(begin) ? more : content);
}

/** More characters than fit in a row. */
const LINE = 300;

function previewOf(line: string, kinds: string): ReactNode {
  return line ? (
    <span className="preview" dir="auto">
      {line}
    </span>
  ) : (
    <span className="preview wordless">{kinds || 'no text'}</span>
  );
}

/** For the mouse; the keyboard folds with the arrow keys, so the list stays one Tab stop. */
function foldButton(isOpen: boolean, hidden: number): ReactNode {
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

function pointOf({ id, name }: CheckpointInfo): ReactNode {
  return (
    <span key={id} className="mark point" title={`Checkpoint ${name}`}>
      <span className="unseen">checkpoint {name}</span>
      <span aria-hidden="true" className="diamond">
        ◆
      </span>
      {bothEnds(name)}
    </span>
  );
}

/** The most labels of a row; a folded row may hide many heads. */
const LABELS = 3;

function headsOf(of: RowProps['branches'], branches: RowProps['branches']): ReactNode {
  const rest = of.length - LABELS;
  return (
    <>
      {of.slice(0, LABELS).map((branch) => branchMark(branch, branches.indexOf(branch)))}
      {rest > 0 && <span className="muted">+{rest}</span>}
    </>
  );
}

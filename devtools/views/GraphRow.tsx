import type { RowBox } from './Rows.tsx';
import type { EngineState } from 'contextree';
import type { ReactNode } from 'react';
import { type GraphModel, headsWithin, isOnlyChild } from '../graphRows.ts';
import { plainLine } from '../plainLine.ts';
import { type Moment, rowState } from '../rowState.ts';
import { glyphsOf } from './Glyphs.tsx';
import { branchMark, pointMark } from './Label.tsx';

/** One message as a row of the graph: the lines of its lanes, its first words, and its branches and checkpoints. */
export function Row(props: RowProps): ReactNode {
  const { box, moment, node, branches, isCursor, isHit, isMarked, fold, naming, children } = props;
  const { engine, model, headKey } = moment;
  const message = messageAt(model, node);
  const { key, role } = message;
  const isHere = key === headKey;
  // Nearly every message has no siblings, and the engine need not look.
  const { index, keys } = isOnlyChild(model, node) ? ALONE : engine.siblings(key);
  const versions = index >= 0 && keys.length > 1 ? keys.length : undefined;
  const state = rowState(moment, node);
  const lane = model.lanes.of(node).lane;
  const heads = fold === 'folded' ? headsWithin(model, node) : (model.heads.get(node) ?? []);
  const checkpoints = model.checkpoints.get(node) ?? [];
  const hidden = model.lanes.size(node) - 1;
  const classes = [
    'row',
    role,
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
      aria-level={engine.node(key)?.depth ?? 1}
      aria-posinset={versions && index + 1}
      aria-setsize={versions}
      aria-selected={isCursor}
      aria-current={isHere ? 'true' : undefined}
      aria-expanded={fold === 'none' ? undefined : fold === 'open'}
    >
      {glyphsOf(model, node, box.style.height, fold === 'folded', checkpoints.length > 0)}
      <span role="gridcell" className="message">
        {fold !== 'none' && foldButton(fold === 'open', hidden)}
        <span className="unseen">{`${role}: `}</span>
        {previewOf(message, engine.message(key)?.parts)}
        {state && <span className={`state ${state.replaceAll(' ', '-')}`}>{state}</span>}
      </span>
      <span role="gridcell" className="marks">
        {naming ?? checkpoints.map(pointMark)}
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

const ALONE = { index: 0, keys: [] };

interface RowProps {
  readonly box: RowBox;
  readonly moment: Moment;
  readonly node: number;
  readonly branches: EngineState['branches'];
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

/** Whether a row's descendants can be folded, and are. */
export type Fold = 'none' | 'open' | 'folded';

/** A message of the graph, by its node. */
export function messageAt(model: GraphModel, node: number): GraphModel['nodes'][number] {
  return model.nodes[node] as GraphModel['nodes'][number];
}

/** More characters than fit in a row. */
const LINE = 300;

/**
 * The first words of a message, as a person would read them: as many as are loaded of those that its preview is made of, without
 * reminders; else the kinds of its parts.
 */
function previewOf(
  { role, content }: GraphModel['nodes'][number],
  parts: readonly unknown[] = [],
): ReactNode {
  let words = '';
  for (const part of parts) {
    const { type, text } = Object(part);
    if (type === 'text' && words.length < LINE) words += ` ${String(text).slice(0, LINE)}`;
  }
  const more = words
    .slice(1)
    .replaceAll(/[^\S ]/g, ' ')
    .replace(/<system-reminder>.*/, '');
  const isCut = content.endsWith('...') && more.startsWith(content.slice(0, -3));
  const line = plainLine(role, isCut ? more : content);
  if (line)
    return (
      <span className="preview" dir="auto">
        {line}
      </span>
    );
  const kinds = new Set(parts.map((part) => Object(part).type).filter((type) => type !== 'step-start'));
  return <span className="preview wordless">{[...kinds].join(', ') || 'no text'}</span>;
}

/** For the mouse; the keyboard folds with the arrow keys, so the list stays one Tab stop. */
function foldButton(isOpen: boolean, hidden: number): ReactNode {
  return (
    <button className="fold" tabIndex={-1} aria-label={`${isOpen ? 'Fold' : 'Unfold'} ${hidden} more`}>
      {isOpen ? '▾' : `▸ ${hidden}`}
    </button>
  );
}

/** The most labels of a row; a folded row may hide many heads. */
const LABELS = 3;

function headsOf(of: RowProps['branches'], branches: RowProps['branches']): ReactNode {
  if (of.length === 0) return null;
  const rest = of.length - LABELS;
  return (
    <>
      {of.slice(0, LABELS).map((branch) => branchMark(branch, branches.indexOf(branch)))}
      {rest > 0 && <span className="muted">+{rest}</span>}
    </>
  );
}

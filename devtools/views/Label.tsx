import type { BranchInfo, CheckpointInfo } from 'contextree';
import type { ReactNode } from 'react';
import { age, count, counted } from '../figures.ts';
import { branchLabel } from '../branchLabel.ts';
import { escaped } from '../plainLine.ts';
import { branchColour } from '../theme.ts';

/**
 * A branch for people: its label, how many messages of its own it has, and its age, where they are known. Its name is a
 * tooltip. `index` is its place among the branches, which gives its colour.
 */
export function branchMark(branch: BranchInfo, index: number): ReactNode {
  const { id, name, isActive, ownCount, createdAt } = branch;
  const colour = branchColour(index);
  const isKnown = createdAt > 0;
  const line = branchLabel(branch);
  return (
    <span
      key={id}
      className={isActive ? 'mark active' : 'mark'}
      style={{ borderColor: colour, background: isActive ? colour : undefined }}
      title={`Branch ${escaped(name)}`}
    >
      <span className="unseen">
        {isActive && 'active '}branch {line}
        {isKnown && `, ${counted(ownCount, 'message')} of its own, ${age(createdAt)}`}
      </span>
      {bothEnds(line)}
      {isKnown && (
        <span className="extra" aria-hidden="true">
          {count(ownCount)} · {age(createdAt)}
        </span>
      )}
    </span>
  );
}

/** A checkpoint for people: its name, which is a tooltip as well. */
export function pointMark({ id, ...point }: CheckpointInfo): ReactNode {
  const name = escaped(point.name);
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

/** A text that is clipped in its middle: names differ at their beginning and at their end. */
function bothEnds(text: string): ReactNode {
  const tail = tailOf(text);
  return (
    <span className="ends" dir="auto" aria-hidden="true">
      <span>{text.slice(0, text.length - tail.length)}</span>
      <span>{tail}</span>
    </span>
  );
}

/** The end that is never clipped: the last word, or, if that is long, the last characters; none of a short text. */
function tailOf(text: string): string {
  if (text.length <= SHORT) return '';
  const word = text.slice(Math.max(0, text.lastIndexOf(' ', text.length - 2)));
  return word.length <= TAIL ? word : Array.from(text).slice(-SHORT).join('');
}

const SHORT = 8;
const TAIL = 12;

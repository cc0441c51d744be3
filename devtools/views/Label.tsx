import type { BranchInfo } from 'contextree';
import type { ReactNode } from 'react';
import { age, count, counted } from '../figures.ts';
import { branchLabel } from '../branchLabel.ts';
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
      title={`Branch ${name}`}
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

/** A text that is clipped in its middle: names differ at their beginning and at their end. */
export function bothEnds(text: string): ReactNode {
  const at = tailOf(text);
  return (
    <span className="ends" dir="auto" aria-hidden="true">
      <span>{text.slice(0, at)}</span>
      <span>{text.slice(at)}</span>
    </span>
  );
}

/** The index of the end that is never clipped: the last word, or, if that is long, the last characters. */
function tailOf(text: string): number {
  if (text.length <= SHORT) return text.length;
  const word = text.lastIndexOf(' ', text.length - 2);
  if (text.length - word <= TAIL) return word;
  // Do not cut a surrogate pair.
  return text.length - SHORT - (/[\udc00-\udfff]/.test(text.charAt(text.length - SHORT)) ? 1 : 0);
}

const SHORT = 8;
const TAIL = 12;

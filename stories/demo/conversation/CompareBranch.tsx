import { useEngine, useMessageBranch, type BranchInfo, type ContextEngine } from 'contextree';
import { useState, type ReactNode } from 'react';
import { onFirstClick } from '../shell/once.ts';
import { Icon } from '../ui/Icon.tsx';
import { CompareVersions } from './CompareVersions.tsx';

/** Compares a branch with the one that is shown: the two messages with which they begin to differ, side by side. */
export function CompareBranch({ branch, shown, label }: CompareBranchProps): ReactNode {
  const engine = useEngine();
  const [parting, setParting] = useState<Parting>();
  if (branch.isActive) return null;
  const found = partingOf(engine, shown, branch);
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-label={`Compare with branch: ${label}`}
        aria-disabled={!found}
        title={found ? 'Compare where the two part' : 'One of the two goes on where the other ends'}
        onClick={onFirstClick(() => setParting(found))}
      >
        <Icon name="columns" />
      </button>
      {parting && <Compared parting={parting} onClose={() => setParting(undefined)} />}
    </>
  );
}

function Compared({ parting: { own, other }, onClose }: ComparedProps): ReactNode {
  const versions = useMessageBranch(own);
  return (
    <CompareVersions
      versions={versions}
      beside={versions.siblings.indexOf(other)}
      onClose={onClose}
      onKept={() => {}}
    />
  );
}

/** The point where two branches part: the key of the first own message of each. */
interface Parting {
  readonly own: string;
  readonly other: string;
}

/** Undefined where one of them is the beginning of the other. */
function partingOf(
  engine: ContextEngine,
  shown: BranchInfo | undefined,
  other: BranchInfo,
): Parting | undefined {
  const [a, b] = [chainOf(engine, shown?.headKey ?? null), chainOf(engine, other.headKey)];
  const at = a.findIndex((key, i) => key !== b[i]);
  const [own, its] = [a[at], b[at]];
  return own === undefined || its === undefined ? undefined : { own, other: its };
}

/** The keys of the messages up to one, oldest first. */
function chainOf(engine: ContextEngine, headKey: string | null): readonly string[] {
  const keys: string[] = [];
  for (let key = headKey; key !== null; key = engine.node(key)?.parentKey ?? null) keys.push(key);
  return keys.toReversed();
}

interface CompareBranchProps {
  readonly branch: BranchInfo;
  /** The branch that is shown. */
  readonly shown: BranchInfo | undefined;
  readonly label: string;
}

interface ComparedProps {
  readonly parting: Parting;
  readonly onClose: () => void;
}

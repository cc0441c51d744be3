import type { BranchInfo } from 'contextree';
import { calm, cutBetweenWords } from '../titles.ts';

/** A branch in the list: below the one that it came from, labelled by its first own words. */
export interface BranchRow {
  readonly branch: BranchInfo;
  /** What the branch is called on the page. */
  readonly label: string;
  /** For each lane beside it, from the left, whether a line runs on below this row. The last one is its own. */
  readonly lanes: readonly boolean[];
  /** Whether branches that came from it follow. */
  readonly hasOwn: boolean;
}

/** All branches as rows, each followed by those that came from it, the older first. */
export function branchRows(branches: readonly BranchInfo[]): readonly BranchRow[] {
  const ids = new Set(branches.map(({ id }) => id));
  const from = (parent: string | undefined): BranchInfo[] =>
    branches.filter(({ forkedFrom }) => (ids.has(forkedFrom ?? '') ? forkedFrom : undefined) === parent);
  const below = (parent: string | undefined, lanes: readonly boolean[]): BranchRow[] => {
    const all = from(parent);
    return all.flatMap((branch, i) => {
      const own = [...lanes, i < all.length - 1];
      const rows = below(branch.id, own);
      return [{ branch, label: labelOn(branch), lanes: own, hasOwn: rows.length > 0 }, ...rows];
    });
  };
  return below(undefined, []);
}

/**
 * What a branch is called on the page: its own name, or its first words without their Markdown, cut to fit a line. One on
 * which nothing was said has neither.
 */
export function labelOn({ name, label, forkedFrom, ownCount }: BranchInfo): string {
  if (label === name && forkedFrom !== undefined && ownCount === 0 && /-v\d+$/.test(name))
    return 'New branch';
  const words =
    label === name
      ? label
      : label
          .replaceAll(/\\(?=[^\s\w])/g, '')
          .replaceAll(/[*_`#]+/g, '')
          .trim();
  return cutBetweenWords(calm(words === '' ? name : words), LONGEST);
}

/** The longest label, in code units. */
const LONGEST = 40;

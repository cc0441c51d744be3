import type { BranchInfo } from 'contextree';
import { escaped, plainLine } from './plainLine.ts';

/**
 * What people call a branch: its label. One on which nothing was said has a name only, which says nothing as long as nobody
 * chose it.
 */
export function branchLabel({ label, name, ownCount }: BranchInfo): string {
  if (label !== name) return plainLine('assistant', label);
  return ownCount === 0 && /-v\d+$/.test(name) ? 'New branch' : escaped(name);
}

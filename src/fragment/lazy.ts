import { dataOf, MAX_DEPTH, walkFragment } from './copy.ts';
import type { ContextFragment } from './fragment.ts';

/** Whether anything in a fragment is only known later. */
export function hasLazy(fragment: ContextFragment): boolean {
  let found = false;
  walkFragment(fragment, {
    code: 'invalid-fragment',
    maxDepth: MAX_DEPTH,
    node: dataOf,
    lazy: () => (found = true),
  });
  return found;
}

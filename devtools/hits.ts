import type { GraphNode } from 'contextree';
import { type GraphModel, shownFor } from './graphRows.ts';

/** The next or the previous hit, in a ring. Undefined for none. */
export function hitAfter(found: readonly string[], key: string | undefined, by: 1 | -1): string | undefined {
  const at = found.indexOf(key ?? '');
  return found.at(at < 0 && by < 0 ? -1 : (at + by) % found.length);
}

/** The choices, with every row unfolded that hides a message. */
export function unfoldedFor(
  model: GraphModel,
  choices: ReadonlyMap<string, boolean>,
  node: number,
): ReadonlyMap<string, boolean> {
  const opened = new Map(choices);
  for (let at = shownFor(model, opened, node); at !== node; at = shownFor(model, opened, node))
    opened.set((model.nodes[at] as GraphNode).key, false);
  return opened;
}

import { generateId, type UIMessage } from 'ai';
import type { BranchInfo, ContextEngine } from 'contextree';

/**
 * Adds a side question and its answer at the end of the main conversation, and shows that. The originals stay in the side
 * place: the copies are messages of their own, with `sources`.
 */
export async function bringOver(
  engine: ContextEngine,
  origin: BranchInfo,
  said: readonly UIMessage[],
): Promise<void> {
  // In the main conversation it is no side question: its metadata is dropped.
  const copies = said.map(({ role, parts }) => ({ id: generateId(), role, parts }));
  const sources = said.flatMap(({ id }) => engine.node(id)?.key ?? []);
  await engine.add(copies, { parentId: origin.headKey, branch: origin.id, sources });
  await engine.switchBranch(origin.id);
}

import { generateId, type UIMessage } from 'ai';
import type { BranchInfo, ContextEngine } from 'contextree';

/**
 * Adds what was asked and answered aside at the end of the main conversation, and shows that. What stands in the side
 * place stays there: these are messages of their own, with the same words, and know where they come from.
 */
export async function bringOver(
  engine: ContextEngine,
  origin: BranchInfo,
  said: readonly UIMessage[],
): Promise<void> {
  // As it stands in the main conversation it is no longer an aside: its metadata stays behind.
  const copies = said.map(({ role, parts }) => ({ id: generateId(), role, parts }));
  const sources = said.flatMap(({ id }) => engine.node(id)?.key ?? []);
  await engine.add(copies, { parentId: origin.headKey, branch: origin.id, sources });
  await engine.switchBranch(origin.id);
}

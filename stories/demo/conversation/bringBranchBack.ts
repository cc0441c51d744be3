import type { BranchInfo, ContextEngine } from 'contextree';

/** Takes the deletion of a branch back, and shows it. It comes under its name, or the next free one. */
export async function bringBranchBack(engine: ContextEngine, branch: BranchInfo): Promise<void> {
  const { chat } = engine;
  if (chat === null) return;
  await engine.store.append(chat.id, [{ op: 'restore-branch', id: branch.id }], {
    userId: chat.userId,
    epoch: chat.epoch,
    mainBranchId: branch.id,
  });
  await engine.switchBranch(branch.id);
}

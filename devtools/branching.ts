import type { ContextEngine, EngineState } from 'contextree';

/** Why no branch can be made now; undefined if one can. */
export function branchOff({ pending }: Pick<EngineState, 'pending'>): string | undefined {
  if (pending.length === 0) return undefined;
  return pending.length === 1
    ? 'a message waits for save(), and would be dropped'
    : `${pending.length} messages wait for save(), and would be dropped`;
}

/** Throws the reason why no branch can be made now. */
export function expectBranching(state: EngineState): void {
  const reason = branchOff(state);
  if (reason !== undefined) throw new Error(`No branch is made: ${reason}.`);
}

/** Makes a branch that ends at a message, and shows it. */
export async function branchAt(engine: ContextEngine, state: EngineState, at: string): Promise<void> {
  expectBranching(state);
  await engine.rewind(at);
}

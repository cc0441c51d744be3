import { useEngine, useEngineState, type BranchInfo, type ContextEngine } from 'contextree';
import { useMemo, useSyncExternalStore } from 'react';
import { local } from '../safeStorage.ts';
import { sideOf } from '../unsent.ts';

/**
 * Where the shown branch left its origin, and whether it is a side question.
 *
 * The first message of a side question says so in its metadata, which every tab and every later visit reads. Until something is
 * asked, only this browser knows.
 */
export interface ForkShown {
  readonly origin: BranchInfo;
  /** The id of the last message that both share; null where they share none. */
  readonly afterId: string | null;
  /** How many messages of the origin stand behind it. */
  readonly kept: number;
  readonly isSide: boolean;
  /** Whether nothing was said on it yet. */
  readonly isEmpty: boolean;
  /** The id of the branch that is shown. */
  readonly branchId: string;
  /** Whether its own first message is an answer: the pager of that version already tells. */
  readonly isAnswer: boolean;
}

/** The fork of the branch that is shown; undefined for one that came from no other. */
export function useFork(): ForkShown | undefined {
  const engine = useEngine();
  const branches = useEngineState((state) => state.branches);
  const active = branches.find(({ isActive }) => isActive);
  // What was just asked, and its answer, are counted before they are among the messages.
  const afterId = active?.forkedAt ? engine.node(active.forkedAt)?.id : undefined;
  const first = useEngineState(({ messages }) => {
    const place = messages.findLastIndex(({ id }) => id === afterId);
    return place === -1 ? messages.at(-(active?.ownCount ?? 0) || messages.length) : messages[place + 1];
  });
  const begun = useSyncExternalStore(listen, () => local.get(sideOf(engine.chatId)));
  return useMemo(() => {
    const origin = branches.find(({ id }) => id === active?.forkedFrom);
    if (!active || !origin) return undefined;
    const shared = active.messageCount - active.ownCount;
    const isEmpty = active.ownCount === 0;
    return {
      origin,
      afterId: active.forkedAt === null ? null : (engine.node(active.forkedAt)?.id ?? null),
      isEmpty,
      branchId: active.id,
      kept: origin.messageCount - shared,
      isSide: isEmpty || !first ? begun !== null && begun === active.forkedAt : isAside(first.metadata),
      isAnswer: !isEmpty && first?.role === 'assistant',
    };
  }, [engine, branches, active, first, begun]);
}

/** The metadata of a question that is asked aside. */
export const ASIDE = { aside: true } as const;

/** Whether the metadata of a question say that it was asked aside. */
export function isAside(metadata: unknown): boolean {
  return typeof metadata === 'object' && metadata !== null && 'aside' in metadata;
}

/** Notes where a side place begins that nothing was asked in yet. */
function beginAside(chatId: string, headKey: string | null): void {
  local.set(sideOf(chatId), headKey);
  tellAll();
}

/** Forgets it: another branch begins, and it may be an empty one that is used again. */
export function forgetAside(chatId: string): void {
  beginAside(chatId, null);
}

/** Opens the place of a side question. A message that is sent before it is open belongs there, see `useIsOpening`. */
export async function openAside(engine: ContextEngine): Promise<void> {
  opening.add(engine);
  tellAll();
  try {
    const branch = await engine.btw();
    beginAside(engine.chatId, branch.headKey);
    await engine.switchBranch(branch.id);
  } finally {
    opening.delete(engine);
    tellAll();
  }
}

/** Whether the place of a side question is about to open. */
export function useIsOpening(): boolean {
  const engine = useEngine();
  return useSyncExternalStore(listen, () => opening.has(engine));
}

const opening = new Set<ContextEngine>();
const listeners = new Set<() => void>();

function tellAll(): void {
  for (const hear of listeners) hear();
}

function listen(hear: () => void): () => void {
  listeners.add(hear);
  return () => void listeners.delete(hear);
}

import { useEngine, useEngineState, type BranchInfo } from 'contextree';
import { useMemo, useSyncExternalStore } from 'react';
import { encodeId } from '../address.ts';
import { session } from '../safeStorage.ts';

/**
 * Where the shown branch left its origin, and whether it is a side question.
 *
 * The first message of a side question says so in its metadata, which every tab and every later visit reads. Until something is
 * asked, only this tab knows.
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
  const first = useEngineState(({ messages }) => messages.at(-(active?.ownCount ?? 0) || messages.length));
  const begun = useSyncExternalStore(listen, () => session.get(sideOf(engine.chatId)));
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
      isSide: isEmpty ? begun !== null && begun === active.headKey : isAside(first?.metadata),
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
export function beginAside(chatId: string, headKey: string | null): void {
  session.set(sideOf(chatId), headKey);
  for (const hear of listeners) hear();
}

/** Forgets it: another branch begins, and it may be an empty one that is used again. */
export function forgetAside(chatId: string): void {
  beginAside(chatId, null);
}

const listeners = new Set<() => void>();

function listen(hear: () => void): () => void {
  listeners.add(hear);
  return () => void listeners.delete(hear);
}

const sideOf = (chatId: string): string => `demo:aside:${encodeId(chatId)}`;

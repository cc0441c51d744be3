import { useEngine, useEngineState, type BranchInfo, type ChatRow, type ContextEngine } from 'contextree';
import { useEffect, useMemo } from 'react';
import { local } from '../safeStorage.ts';
import { seenOf } from '../unsent.ts';

/**
 * News of branches and chats that are not shown: an answer grows there, or has ended since the branch was last shown in this
 * browser.
 *
 * The browser keeps what was seen of a chat: the last message of each branch when the branch was shown. A branch with another
 * last answer, or a longer one, is unread. Everything before the first visit counts as seen. The branches of a chat that is not
 * open are not known: such a chat is unread when something was written to it since it was left, or when a branch was unread
 * then.
 */
export type News = 'growing' | 'unread';

/** The news of the branches that are not shown, by the branch's id. */
export function useBranchNews(): ReadonlyMap<string, News> {
  const engine = useEngine();
  const found = useEngineState(({ branches }) => {
    const seen = seenIn(engine.chatId);
    return JSON.stringify(branches.flatMap((branch) => newsOf(engine, branch, seen)));
  });
  return useMemo(() => new Map(JSON.parse(found) as [string, News][]), [found]);
}

/** Notes that the shown branch is seen, each time that it has settled. Used once in a chat. */
export function useSeeing(): void {
  const engine = useEngine();
  const shown = useEngineState(({ branches, detached }) => {
    const active = branches.find(({ isActive }) => isActive);
    return active && !detached ? stateOf(engine, active) : undefined;
  });
  useEffect(() => {
    if (shown === undefined) return;
    const see = (): void => {
      if (!document.hidden) markSeen(engine, shown);
    };
    see();
    document.addEventListener('visibilitychange', see);
    return () => document.removeEventListener('visibilitychange', see);
  }, [engine, shown]);
  // A person who leaves has seen the chat as it is now.
  const writtenAt = useEngineState(({ chat }) => chat?.updatedAt);
  useEffect(() => {
    if (writtenAt === undefined) return;
    const note = (): void => noteLooked(engine);
    const noteIfVisible = (): void => {
      if (!document.hidden) note();
    };
    noteIfVisible();
    document.addEventListener('visibilitychange', note);
    return () => {
      noteIfVisible();
      document.removeEventListener('visibilitychange', note);
    };
  }, [engine, writtenAt]);
}

/** Which of some chats are unread, by id, as a value that is equal until it changes. */
export function unreadOf(chats: readonly ChatRow[]): string {
  const unread = chats.filter(({ id, updatedAt }) => {
    const kept = local.get(seenOf(id));
    if (kept === null) return false;
    const { at = updatedAt, hasNews } = JSON.parse(kept) as Seen;
    return hasNews === true || updatedAt > at;
  });
  return unread.map(({ id }) => id).join('\n');
}

/** A person's own changes in the list of chats are no news. */
export async function withoutNews(chat: ChatRow, change: () => Promise<unknown>): Promise<void> {
  const isUnread = unreadOf([chat]) !== '';
  await change();
  if (!isUnread) keepSeen(chat.id, { at: Date.now() });
}

/** Calls when something was seen, in this tab or in another one. Returns the way to stop. */
export function followSeen(listener: () => void): () => void {
  lookers.add(listener);
  addEventListener('storage', listener);
  return () => {
    lookers.delete(listener);
    removeEventListener('storage', listener);
  };
}

const lookers = new Set<() => void>();

interface Seen {
  /** When this browser first looked at the chat, in ms since epoch. */
  readonly since: number;
  /** Last messages of branches, each with its revision. */
  readonly ends: readonly string[];
  /** When the chat was shown last, in ms since epoch. */
  readonly at?: number;
  /** Whether a branch that was not shown was unread then. */
  readonly hasNews?: boolean;
}

function newsOf(engine: ContextEngine, branch: BranchInfo, seen: Seen): [string, News][] {
  if (branch.isActive) return [];
  const end = branch.headKey === null ? undefined : engine.node(branch.headKey);
  if (end?.name !== 'assistant') return [];
  if (end.status === 'streaming') return [[branch.id, 'growing']];
  const isSeen = end.createdAt <= seen.since || seen.ends.includes(`${end.key} ${end.rev}`);
  return isSeen ? [] : [[branch.id, 'unread']];
}

/** The last message of a branch with its revision; undefined while it grows. */
function stateOf(engine: ContextEngine, { headKey }: BranchInfo): string | undefined {
  const end = headKey === null ? undefined : engine.node(headKey);
  return end && end.status !== 'streaming' ? `${end.key} ${end.rev}` : undefined;
}

function seenIn(chatId: string): Seen {
  const kept = local.get(seenOf(chatId));
  return kept === null ? { since: Date.now(), ends: [] } : (JSON.parse(kept) as Seen);
}

/**
 * Keeps what was seen of branches that are still there, and the last few: another tab may have seen one that it has just
 * begun, and that is not known here yet.
 */
function markSeen(engine: ContextEngine, end: string): void {
  const { ends } = seenIn(engine.chatId);
  const there = new Set(engine.state.getState().branches.map(({ headKey }) => headKey));
  const others = ends.filter((one) => one !== end);
  const kept = others.filter((one, i) => i >= others.length - FEW || there.has(one.split(' ', 1)[0] ?? ''));
  keepSeen(engine.chatId, { ends: [...kept, end] });
}

const FEW = 20;

/** Notes that a chat is shown now, and whether it holds more that is unread. */
function noteLooked(engine: ContextEngine): void {
  const seen = seenIn(engine.chatId);
  const news = engine.state.getState().branches.flatMap((branch) => newsOf(engine, branch, seen));
  keepSeen(engine.chatId, { at: Date.now(), hasNews: news.some(([, kind]) => kind === 'unread') });
}

function keepSeen(chatId: string, part: Partial<Seen>): void {
  local.set(seenOf(chatId), JSON.stringify({ ...seenIn(chatId), ...part }));
  for (const tell of lookers) tell();
}

import type { ChatRow, ContextStore } from 'contextree';
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { followSeen, unreadOf, type News } from '../conversation/useBranchNews.ts';

/** The news of chats that are not shown, by the chat's id: an answer grows there, or has ended unseen. */
export function useChatNews(
  store: ContextStore,
  chats: readonly ChatRow[],
  current: string,
): ReadonlyMap<string, News> {
  const growing = useGrowing(store);
  const unread = useSyncExternalStore(followSeen, () => unreadOf(chats));
  return useMemo(() => {
    const news = new Map<string, News>();
    for (const id of unread.split('\n')) news.set(id, 'unread');
    for (const id of growing) news.set(id, 'growing');
    news.delete(current);
    return news;
  }, [growing, unread, current]);
}

/** The chats in which some tab of this browser writes an answer right now. An answer that grows is heard of by itself. */
function useGrowing(store: ContextStore): ReadonlySet<string> {
  const [growing, setGrowing] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const look = async (chatId: string): Promise<void> => {
      const isHeld = (await store.held(chatId).catch(() => new Set())).size > 0;
      setGrowing((before) => {
        if (before.has(chatId) === isHeld) return before;
        return new Set(isHeld ? [...before, chatId] : [...before].filter((id) => id !== chatId));
      });
    };
    return store.subscribe(({ chatId }) => {
      if (chatId !== undefined) void look(chatId);
    });
  }, [store]);
  // A tab that dies sends no notice.
  useEffect(() => {
    if (growing.size === 0) return;
    const look = async (): Promise<void> => {
      const found = await Promise.all(
        [...growing].map(async (id) => [id, (await store.held(id).catch(() => new Set())).size > 0] as const),
      );
      const left = found.filter(([, isHeld]) => isHeld).map(([id]) => id);
      if (left.length < growing.size) setGrowing(new Set(left));
    };
    const timer = setInterval(() => void look(), 1000);
    return () => clearInterval(timer);
  }, [store, growing]);
  return growing;
}

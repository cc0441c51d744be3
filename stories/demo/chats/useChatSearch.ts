import type { ChatRow, ContextStore } from 'contextree';
import { useEffect, useState } from 'react';
import { calm, UNTITLED } from '../titles.ts';
import { USER } from '../shell/Workspace.ts';

/** A chat that has the words, in its title or in what was said in it. */
export interface Found {
  readonly chat: ChatRow;
  /** Where the words are, as pieces; empty where the title has them. */
  readonly snippet: readonly SnippetPiece[];
  /** The message that has them, by key; undefined where the title does. */
  readonly messageKey?: string;
}

/** A piece of a text, and whether it is one of the words. */
export interface SnippetPiece {
  readonly text: string;
  readonly isHit: boolean;
}

/** What a search found so far; `isOver` when every chat was asked. */
export interface Search {
  readonly found: readonly Found[];
  readonly isOver: boolean;
}

/**
 * Searches the titles and the messages of all chats: titles at once, then one chat after another, the last updated first.
 * Undefined without a query. Searches again when the list of chats changes, and shows the earlier results meanwhile.
 */
export function useChatSearch(
  store: ContextStore,
  query: string,
  { chats, hasMore }: Listed,
): Search | undefined {
  const words = query.trim();
  const [search, setSearch] = useState<Search & { readonly for: string }>();
  useEffect(() => {
    if (words === '') return;
    let isGone = false;
    const show = (found: readonly Found[], isOver: boolean): void => {
      if (isGone) return;
      setSearch((before) => {
        const isRepeat = before?.for === words && before.isOver;
        return isRepeat && !isOver ? before : { for: words, found, isOver };
      });
    };
    const timer = setTimeout(
      () => void searchIn(store, words, { chats, hasMore }, { show, isGone: () => isGone }),
      PAUSE,
    );
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [store, words, chats, hasMore]);
  if (words === '') return undefined;
  return search?.for === words ? search : { found: search?.found ?? [], isOver: false };
}

/** The pause in typing before a search begins, in ms. */
const PAUSE = 150;

/** The chats that are listed, and whether there are more. */
interface Listed {
  readonly chats: readonly ChatRow[];
  readonly hasMore: boolean;
}

interface Listener {
  readonly show: (found: readonly Found[], isOver: boolean) => void;
  readonly isGone: () => boolean;
}

async function searchIn(
  store: ContextStore,
  words: string,
  { chats, hasMore }: Listed,
  { show, isGone }: Listener,
): Promise<void> {
  const all = hasMore ? await store.listChats({ userId: USER }).catch(() => chats) : chats;
  const inTitle = all.filter(({ title }) => hasWords(calm(title ?? UNTITLED), words));
  let found: readonly Found[] = inTitle.map((chat) => ({ chat, snippet: [] }));
  show(found, false);
  for (const chat of all) {
    if (isGone()) return;
    if (inTitle.includes(chat)) continue;
    const [best] = await store.searchMessages(chat.id, words, { limit: 1 }).catch(() => []);
    if (best === undefined) continue;
    found = [...found, { chat, snippet: piecesOf(best.snippet), messageKey: best.record.key }];
    show(found, false);
  }
  show(found, true);
}

function hasWords(title: string, words: string): boolean {
  const all = title.toLocaleLowerCase();
  return words
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

/** A snippet of the store, which is HTML, as pieces: from a few words before its hit on, because a row shows two lines. */
export function piecesOf(snippet: string): readonly SnippetPiece[] {
  return snippet
    .split(/(<mark>.*?<\/mark>)/s)
    .filter((piece) => piece !== '')
    .map((piece, i) => {
      const text = unescaped(piece);
      const isHit = piece.startsWith('<mark>');
      return { text: isHit || i > 0 ? text : text.replace(/^(?=.{25}).+?\s(?=.{1,24}$)/su, '…'), isHit };
    });
}

function unescaped(html: string): string {
  const signs: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return html
    .replaceAll(/<\/?mark>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => signs[name] ?? '');
}

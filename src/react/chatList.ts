import { createStore, type StoreApi } from 'zustand/vanilla';
import { ContextError, isContextError, reasonOf } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import { keepIfSame, sameJson } from '../graph/same.ts';
import type { ChatRow as ChatInfo, ContextStore } from '../store/store.ts';

/**
 * The chats of one user, as a list that follows the store. Each durable change has the list read again; during a read, at most
 * one more waits. An unchanged chat keeps its object, so its row does not render.
 *
 * A chat that a person removes disappears at once, and comes back if the disk refuses. A full disk can't note that a chat is to
 * be deleted later: then the list remembers it and deletes it in time, which makes room.
 */
export class ChatList {
  readonly state: StoreApi<ChatListState> = createStore<ChatListState>()(() => LOADING);
  readonly #store: ContextStore;
  readonly #userId: string;
  #limit: number = PAGE;
  #reading: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;

  constructor(store: ContextStore, userId: string) {
    this.#store = store;
    this.#userId = userId;
  }

  /** Reads the list, now and after each change. Returns a function that stops. */
  follow(): () => void {
    void this.refresh();
    return this.#store.subscribe(({ kind }) => {
      if (kind !== 'draft') void this.refresh();
    });
  }

  /** Resolves when the list shows everything that was durable at the time of the call. The state reports failures. */
  refresh(): Promise<void> {
    this.#next ??= this.#reading.then(() => {
      this.#next = undefined;
      this.#reading = this.#read();
      return this.#reading;
    });
    return this.#next;
  }

  async #read(): Promise<void> {
    const limit = this.#limit;
    try {
      const rows = await this.#store.listChats({ userId: this.#userId, limit: limit + 1 });
      const found = keepEqual(this.state.getState().found, rows.slice(0, limit));
      this.state.setState({ found, hasMore: rows.length > limit, isLoading: false, error: null });
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      this.state.setState({ isLoading: false, error: failure });
    }
  }

  /** Shows another page of chats, where there are more. */
  async loadMore(): Promise<void> {
    if (!this.state.getState().hasMore) return;
    this.#limit += PAGE;
    await this.refresh();
  }

  /** Changes the title of a chat; null removes it. Rejects with `chat-deleted` when there is no such chat. */
  async rename(chatId: string, title: string | null): Promise<void> {
    const { marks, database, generation, seq: since } = await this.#store.load(chatId);
    const own = marks.find(({ id }) => id.startsWith('beginning '));
    if (!own) {
      const reason = 'it was deleted, or nothing was saved to it yet.';
      const message = `There is no chat "${reasonOf(chatId)}" to rename: ${reason}`;
      throw new ContextError('chat-deleted', message, { details: { chatId } });
    }
    const rev = 1 + marks.reduce((max, mark) => Math.max(max, mark.rev), 0);
    const mark = { id: 'title', rev, by: createId(), chat: own.chat, value: title };
    const options = { userId: this.#userId, database, generation, since };
    await this.#store.commit(chatId, { messages: [], ends: [], marks: [mark] }, options);
    await this.refresh();
  }

  /** Removes a chat. For {@link UNDO_WITHIN} ms the result restores it: true if it did, false when it was too late. */
  async remove(chatId: string): Promise<() => Promise<boolean>> {
    this.#setLeaving(chatId, true);
    try {
      await this.#store.deleteChat(chatId, { userId: this.#userId, keepFor: UNDO_WITHIN });
      await this.refresh();
    } catch (error) {
      if (isContextError(error, 'quota-exceeded')) return this.#removeInTime(chatId);
      this.#setLeaving(chatId, false);
      throw error;
    }
    this.#setLeaving(chatId, false);
    return async () => {
      const isBack = await this.#store.restoreChat(chatId);
      await this.refresh();
      return isBack;
    };
  }

  /** A full disk can't note when a chat is to be deleted: until then it is hidden in this list only. */
  #removeInTime(chatId: string): () => Promise<boolean> {
    let isOver = false;
    const timer = setTimeout(async () => {
      isOver = true;
      await this.#store.deleteChat(chatId, { userId: this.#userId }).catch(() => {});
      await this.refresh();
      this.#setLeaving(chatId, false);
    }, UNDO_WITHIN);
    return async () => {
      if (isOver) return false;
      isOver = true;
      clearTimeout(timer);
      this.#setLeaving(chatId, false);
      return true;
    };
  }

  #setLeaving(chatId: string, isLeaving: boolean): void {
    const others = this.state.getState().leaving.filter((id) => id !== chatId);
    this.state.setState({ leaving: isLeaving ? [...others, chatId] : others });
  }
}

/** How many chats are shown at first, and how many more with each `loadMore()`. */
const PAGE = 50;

/** What is known of the chats. */
export interface ChatListState {
  /** The last updated first, with those that are being removed. */
  readonly found: readonly ChatInfo[];
  /** Whether there are chats after the last one found. */
  readonly hasMore: boolean;
  /** The ids of the chats that are being removed. */
  readonly leaving: readonly string[];
  /** True until the first read has ended. */
  readonly isLoading: boolean;
  /** Why they could not be read; null otherwise. */
  readonly error: Error | null;
}

const LOADING: ChatListState = { found: [], hasMore: false, leaving: [], isLoading: true, error: null };

/** How long a removed chat can be brought back, in ms. */
const UNDO_WITHIN = 10_000;

/** The new list, with the old objects of unchanged chats. */
function keepEqual(before: readonly ChatInfo[], now: readonly ChatInfo[]): readonly ChatInfo[] {
  const known = new Map(before.map((chat) => [chat.id, chat]));
  const kept = now.map((chat) =>
    sameJson(known.get(chat.id), chat) ? (known.get(chat.id) as ChatInfo) : chat,
  );
  return keepIfSame(before, kept);
}

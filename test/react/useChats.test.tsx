import { act, renderHook, waitFor } from '@testing-library/react';
import { ContextError, InMemoryContextStore, useChats } from 'contextree';
import type { ContextEngine, UseChatsOptions, UseChatsResult } from 'contextree';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { engineOn, inChat, say, settle } from './harness.tsx';

afterEach(() => void vi.useRealTimers());

const mine = { userId: 'me' };

/** Begins these chats, each at a later millisecond than the one before. */
async function chatsIn(store: InMemoryContextStore, ...ids: string[]): Promise<void> {
  for (const id of ids) {
    await settle(2);
    await say(engineOn(store, id), 'q1', 'a1');
  }
}

function list(store: InMemoryContextStore, options: UseChatsOptions = mine): { current: UseChatsResult } {
  return renderHook(() => useChats(store, options), { reactStrictMode: true }).result;
}

const question = { id: 'q1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'hi' }] };
const idsOf = ({ chats }: UseChatsResult): string[] => chats.map(({ id }) => id);

describe('useChats', () => {
  it('lists the chats of one user, the last updated first', async () => {
    const store = new InMemoryContextStore();
    await chatsIn(store, 'old', 'new');
    const result = list(store);
    expect(result.current).toMatchObject({ chats: [], isPending: true, hasMore: false });
    await waitFor(() => expect(idsOf(result.current)).toEqual(['new', 'old']));
    expect(result.current).toMatchObject({ isPending: false, error: null });
    const others = list(store, { userId: 'you' });
    await waitFor(() => expect(others.current.isPending).toBe(false));
    expect(others.current.chats).toEqual([]);
  });

  it('takes store and user of the provider', async () => {
    const store = new InMemoryContextStore();
    await chatsIn(store, 'c');
    const wrapper = inChat({ chatId: 'c', userId: 'me', store });
    const { result } = renderHook(() => useChats(), { wrapper });
    await waitFor(() => expect(idsOf(result.current)).toEqual(['c']));
  });

  it('hears of chats that begin, grow and get a title elsewhere', async () => {
    const store = new InMemoryContextStore();
    await chatsIn(store, 'one', 'two');
    const result = list(store);
    await waitFor(() => expect(idsOf(result.current)).toEqual(['two', 'one']));
    await chatsIn(store, 'three');
    await waitFor(() => expect(idsOf(result.current)).toEqual(['three', 'two', 'one']));
    await engineOn(store, 'one').updateChat({ title: 'First' });
    await waitFor(() => expect(result.current.chats.find(({ id }) => id === 'one')?.title).toBe('First'));
  });

  it('keeps the objects of chats that did not change', async () => {
    const store = new InMemoryContextStore();
    await chatsIn(store, 'one', 'two');
    const result = list(store);
    await waitFor(() => expect(result.current.chats).toHaveLength(2));
    const two = result.current.chats.find(({ id }) => id === 'two');
    await act(() => result.current.rename('one', 'First'));
    expect(result.current.chats.find(({ id }) => id === 'two')).toBe(two);
  });

  it('reads once more for a burst of changes while it reads, and shows them all', async () => {
    const store = new InMemoryContextStore();
    const result = list(store);
    await waitFor(() => expect(result.current.isPending).toBe(false));
    const listChats = store.listChats.bind(store);
    const { promise: patience, resolve: goOn } = Promise.withResolvers<void>();
    const read = vi.spyOn(store, 'listChats');
    read.mockImplementation(async (filter) => {
      const found = await listChats(filter);
      await patience;
      return found;
    });
    await act(() => Promise.all(Array.from({ length: 20 }, (_, i) => engineOn(store, `c${i}`).save())));
    goOn();
    await waitFor(() => expect(result.current.chats).toHaveLength(20));
    expect(read.mock.calls.length).toBeLessThanOrEqual(2);
  });

  it('makes the id of a new chat, and neither stores nor lists it before something is said', async () => {
    const store = new InMemoryContextStore();
    const result = list(store);
    await waitFor(() => expect(result.current.isPending).toBe(false));
    const id = result.current.create();
    expect(result.current.create()).not.toBe(id);
    await settle(5);
    expect(result.current.chats).toEqual([]);
    expect(await store.listChats()).toEqual([]);
    await say(engineOn(store, id), 'q1');
    await waitFor(() => expect(idsOf(result.current)).toEqual([id]));
  });

  it('renames, and the open chat hears of it', async () => {
    const store = new InMemoryContextStore();
    const engine = engineOn(store, 'one');
    await say(engine, 'q1');
    const result = list(store);
    await act(() => result.current.rename('one', 'Poems'));
    expect(result.current.chats[0]?.title).toBe('Poems');
    await waitFor(() => expect(engine.chat?.title).toBe('Poems'));
    await act(() => result.current.rename('one', null));
    expect(result.current.chats[0]?.title).toBeUndefined();
  });

  it('refuses to rename a chat that is not there, and another person’s', async () => {
    const store = new InMemoryContextStore();
    await chatsIn(store, 'mine');
    const result = list(store, { userId: 'you' });
    await act(() =>
      expect(result.current.rename('nobody', 'x')).rejects.toMatchObject({ code: 'chat-deleted' }),
    );
    await act(() => expect(result.current.rename('mine', 'x')).rejects.toMatchObject({ code: 'wrong-user' }));
    expect(result.current.error).toMatchObject({ code: 'wrong-user' });
  });

  it('hides a removed chat at once, and brings it back whole when that is undone', async () => {
    const store = new InMemoryContextStore();
    await chatsIn(store, 'one', 'two');
    const result = list(store);
    await waitFor(() => expect(result.current.chats).toHaveLength(2));
    let removal: Promise<() => Promise<boolean>> | undefined;
    act(() => {
      removal = result.current.remove('one');
    });
    expect(idsOf(result.current)).toEqual(['two']);
    const undo = await act(async () => removal!);
    expect(idsOf(result.current)).toEqual(['two']);
    expect(await act(undo)).toBe(true);
    expect(idsOf(result.current).toSorted()).toEqual(['one', 'two']);
    expect(await store.getMessages('one')).toHaveLength(2);
  });

  it('cannot undo after ten seconds, when the bytes are gone', async () => {
    vi.useFakeTimers();
    const store = new InMemoryContextStore();
    const engine: ContextEngine = engineOn(store, 'one');
    await say(engine, 'q1');
    const result = list(store);
    const undo = await act(() => result.current.remove('one'));
    await act(() => vi.advanceTimersByTimeAsync(10_100));
    expect(await act(undo)).toBe(false);
    expect(result.current.chats).toEqual([]);
    expect(await store.getMessage('one', 'q1')).toBeUndefined();
  });

  it('shows a chat again that could not be removed', async () => {
    const store = new InMemoryContextStore();
    await chatsIn(store, 'one');
    const result = list(store);
    await waitFor(() => expect(result.current.chats).toHaveLength(1));
    vi.spyOn(store, 'deleteChat').mockRejectedValue(new ContextError('store-closed', 'closed'));
    await act(() => expect(result.current.remove('one')).rejects.toMatchObject({ code: 'store-closed' }));
    expect(idsOf(result.current)).toEqual(['one']);
    expect(result.current.error).toMatchObject({ code: 'store-closed' });
  });

  // As Chromium has it when a site's share is used up: what only deletes is taken.
  const full = (store: InMemoryContextStore): void => {
    const deleteChat = store.deleteChat.bind(store);
    vi.spyOn(store, 'deleteChat').mockImplementation((chatId, options) => {
      if (options?.keepFor === undefined) return deleteChat(chatId, options);
      return Promise.reject(new ContextError('quota-exceeded', 'no room'));
    });
  };

  it('removes a chat in ten seconds where the disk is too full to note that', async () => {
    vi.useFakeTimers();
    const store = new InMemoryContextStore();
    await say(engineOn(store, 'one'), 'q1');
    const result = list(store);
    await act(() => vi.advanceTimersByTimeAsync(10));
    expect(idsOf(result.current)).toEqual(['one']);
    full(store);
    const undo = await act(() => result.current.remove('one'));
    expect(result.current).toMatchObject({ chats: [], error: null });
    await act(() => vi.advanceTimersByTimeAsync(9_900));
    expect(result.current.chats).toEqual([]);
    expect(await store.getMessages('one')).toHaveLength(1);
    await act(() => vi.advanceTimersByTimeAsync(200));
    expect(await act(undo)).toBe(false);
    expect(result.current.chats).toEqual([]);
    expect(await store.getChat('one')).toBeUndefined();
  });

  it('brings such a chat back until then, once', async () => {
    vi.useFakeTimers();
    const store = new InMemoryContextStore();
    await say(engineOn(store, 'one'), 'q1');
    const result = list(store);
    full(store);
    const undo = await act(() => result.current.remove('one'));
    await act(() => vi.advanceTimersByTimeAsync(9_900));
    expect(await act(undo)).toBe(true);
    expect(idsOf(result.current)).toEqual(['one']);
    expect(await act(undo)).toBe(false);
    await act(() => vi.advanceTimersByTimeAsync(1_000));
    expect(idsOf(result.current)).toEqual(['one']);
    expect(await store.getMessages('one')).toHaveLength(1);
  });

  it('shows fifty, and fifty more', async () => {
    const store = new InMemoryContextStore();
    await Promise.all(Array.from({ length: 60 }, (_, i) => engineOn(store, `c${i}`).save()));
    const result = list(store);
    await waitFor(() => expect(result.current.chats).toHaveLength(50));
    expect(result.current.hasMore).toBe(true);
    await act(() => result.current.loadMore());
    expect(result.current.chats).toHaveLength(60);
    expect(result.current.hasMore).toBe(false);
  });

  it('does not read again for words that stream in', async () => {
    const store = new InMemoryContextStore();
    const engine = engineOn(store);
    await act(() => engine.ask(question, { id: 'a1' }));
    const result = list(store);
    await waitFor(() => expect(result.current.chats).toHaveLength(1));
    const read = vi.spyOn(store, 'listChats');
    await act(() => engine.updateMessage('a1', { ...question, role: 'assistant' }, 'streaming'));
    await settle(5);
    expect(read).not.toHaveBeenCalled();
  });

  it('stops listening when it is gone', async () => {
    const store = new InMemoryContextStore();
    const { unmount } = renderHook(() => useChats(store, mine), { reactStrictMode: true });
    unmount();
    await settle(5);
    const read = vi.spyOn(store, 'listChats');
    await chatsIn(store, 'one');
    await settle(5);
    expect(read).not.toHaveBeenCalled();
  });

  it('says that the list cannot be read', async () => {
    const store = new InMemoryContextStore();
    vi.spyOn(store, 'listChats').mockRejectedValue(new ContextError('store-blocked', 'blocked'));
    const result = list(store);
    await waitFor(() => expect(result.current.error).toMatchObject({ code: 'store-blocked' }));
    expect(result.current.isPending).toBe(false);
  });
});

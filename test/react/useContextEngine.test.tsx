import { act, renderHook, waitFor } from '@testing-library/react';
import {
  ContextEngine,
  ContextError,
  InMemoryContextStore,
  useBranches,
  useCheckpoint,
  useContextEngine,
  useHistory,
  useMessageBranch,
  user,
} from 'contextree';
import { hydrateRoot } from 'react-dom/client';
import { renderToString } from 'react-dom/server';
import type { ReactNode } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { asked, engineOn, inChat, say, shown, under } from './harness.tsx';

describe('useContextEngine', () => {
  it('is loading, then ready with what is stored', async () => {
    const store = new InMemoryContextStore();
    await say(engineOn(store), 'q1', 'a1');
    const { result } = renderHook(() => useContextEngine({ chatId: 'chat', userId: 'me', store }), {
      reactStrictMode: true,
    });
    expect(result.current).toMatchObject({
      status: 'loading',
      error: null,
      messages: [],
      branch: 'main',
      chat: null,
    });
    await waitFor(() => expect(result.current.status).toBe('ready'));
    expect(result.current).toMatchObject({
      messages: [{ id: 'q1' }, { id: 'a1' }],
      loadedFrom: 0,
      headMessageId: 'a1',
      chat: { id: 'chat', userId: 'me' },
      saveState: { state: 'idle', pending: 0 },
    });
  });

  it.each<[string, () => object]>([
    ['useContextEngine', useContextEngine],
    ['useBranches', useBranches],
    ['useCheckpoint', useCheckpoint],
    ['useHistory', useHistory],
    ['useMessageBranch', () => useMessageBranch('a1')],
  ])('gives the same functions in every render, as all hooks do: %s', async (_, useIt) => {
    const engine = engineOn();
    await say(engine, 'q1', 'a1');
    const { result } = renderHook(useIt, { wrapper: under(engine) });
    const functions = Object.entries(result.current).filter(([, value]) => typeof value === 'function');
    await act(() => engine.edit('a1', 'other'));
    await act(() => engine.checkpoint('here'));
    expect(functions.length).toBeGreaterThan(1);
    expect(result.current).toMatchObject(Object.fromEntries(functions));
  });

  it('takes the options of the engine, and gives the provider’s engine without', async () => {
    const store = new InMemoryContextStore();
    const wrapper = inChat({ chatId: 'c', userId: 'u', store, metadata: { plan: 'pro' } });
    const { result } = renderHook(() => useContextEngine(), { wrapper });
    await act(() => result.current.set(user('hi')).save());
    expect(result.current.chat).toMatchObject({ userId: 'u', metadata: { plan: 'pro' } });
  });

  it('hydrates what a server rendered, without a complaint, when the chat is read already', async () => {
    const engine = engineOn();
    await say(engine, 'q1', 'a1');
    const fresh = new ContextEngine({ store: engine.store, chatId: 'chat', userId: 'me' });
    const Page = ({ engine }: { engine: ContextEngine }): ReactNode => {
      const { messages } = useContextEngine(engine);
      const { count, status } = useMessageBranch('a1', engine);
      return <p>{`${messages.length} messages, ${count} versions, ${status}`}</p>;
    };
    const container = document.createElement('div');
    container.innerHTML = renderToString(<Page engine={fresh} />);
    expect(container.textContent).toBe('0 messages, 0 versions, undefined');
    const complaint = vi.fn<() => void>();
    const root = await act(async () =>
      hydrateRoot(container, <Page engine={engine} />, { onRecoverableError: complaint }),
    );
    expect(container.textContent).toBe('2 messages, 1 versions, complete');
    expect(complaint).not.toHaveBeenCalled();
    act(() => root.unmount());
  });

  it('says that the disk refuses, and keeps the words', async () => {
    const store = new InMemoryContextStore();
    const engine = engineOn(store);
    const { result } = renderHook(() => useContextEngine(), { wrapper: under(engine) });
    const refuse = vi.spyOn(store, 'commit').mockRejectedValue(new ContextError('quota-exceeded', 'Full.'));
    await asked(engine, 'q1');
    expect(result.current.saveState).toMatchObject({ state: 'error', error: { code: 'quota-exceeded' } });
    expect(shown(engine)).toEqual(['hi']);
    refuse.mockRestore();
    await act(() => result.current.retry());
    expect(result.current.saveState.state).toBe('saved');
  });
});

import { render, renderHook, screen, waitFor } from '@testing-library/react';
import {
  ContextEngineProvider,
  InMemoryContextStore,
  isContextError,
  useBranches,
  useChats,
  useContextEngine,
  useEngine,
} from 'contextree';
import { useContextChat } from 'contextree/ai';
import { Suspense, type ReactNode } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { engineOn, inChat, say, settle, under } from './harness.tsx';

describe('ContextEngineProvider', () => {
  it('makes the engine of its chat, for the local user if none is named', async () => {
    const store = new InMemoryContextStore();
    const { result } = renderHook(() => useEngine(), { wrapper: inChat({ chatId: 'c', store }) });
    expect(result.current).toMatchObject({ chatId: 'c', userId: 'local', store });
    await waitFor(() => expect(result.current.state.getState().status).toBe('ready'));
  });

  it('passes on the engine that it is handed, reads its chat, and leaves it alive', async () => {
    const engine = engineOn();
    const dispose = vi.spyOn(engine, 'dispose');
    const { result, unmount } = renderHook(() => useContextEngine(), { wrapper: under(engine) });
    expect(result.current.engine).toBe(engine);
    await waitFor(() => expect(result.current.status).toBe('ready'));
    unmount();
    await settle(5);
    expect(dispose).not.toHaveBeenCalled();
  });

  it('writes nothing by being mounted', async () => {
    const store = new InMemoryContextStore();
    const commit = vi.spyOn(store, 'commit');
    const wrapper = inChat({ chatId: 'c', store, metadata: { model: 'm' } });
    const { result } = renderHook(() => useContextEngine(), { wrapper });
    await waitFor(() => expect(result.current.status).toBe('ready'));
    expect(commit).not.toHaveBeenCalled();
    expect(await store.listChats()).toEqual([]);
  });

  it('shows why a chat cannot be read', async () => {
    const store = new InMemoryContextStore();
    await say(engineOn(store, 'mine'), 'q1');
    const wrapper = inChat({ chatId: 'mine', userId: 'you', store });
    const { result } = renderHook(() => useContextEngine(), { wrapper });
    await waitFor(() => expect(result.current.status).toBe('error'));
    expect(result.current.error?.code).toBe('wrong-user');
  });

  it('keeps its engine while something below it is suspended', async () => {
    const store = new InMemoryContextStore();
    const seen = new Set<unknown>();
    let isWaiting = true;
    const data = new Promise((resolve) => setTimeout(resolve, 20)).then(() => (isWaiting = false));
    const Slow = (): ReactNode => {
      seen.add(useEngine());
      if (isWaiting) throw data;
      return <p>here</p>;
    };
    render(
      <Suspense fallback="waiting">
        <ContextEngineProvider chatId="c" store={store}>
          <Slow />
        </ContextEngineProvider>
      </Suspense>,
    );
    await settle(30);
    expect(await screen.findByText('here')).toBeTruthy();
    expect(seen.size).toBe(1);
  });
});

describe('what is no engine', () => {
  const refused = {
    code: 'invalid-options',
    message: 'engine must be a ContextEngine, and is 5.',
    details: { option: 'engine', value: 5 },
  };

  it.each([
    ['a provider', () => render(<ContextEngineProvider engine={5 as never} />)],
    ['a hook', () => renderHook(() => useBranches(5 as never))],
  ])('is refused in words by %s', (_, mount) => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    expect(caught(mount)).toMatchObject(refused);
  });
});

describe('what is neither an engine nor options for one, or no store', () => {
  it.each<[string, () => unknown, string]>([
    [
      'useContextEngine(5)',
      () => useContextEngine(5 as never),
      'engine must be a ContextEngine or options for one, and is 5.',
    ],
    ['useContextEngine({})', () => useContextEngine({} as never), 'chatId is required'],
    ['useChats({})', () => useChats({} as never), 'store must be a ContextStore, and is [object Object].'],
    ['useContextEngine(a proxy)', () => useContextEngine(throwing()), "engine can't be read: boom."],
    [
      'useContextEngine({ a getter })',
      () =>
        useContextEngine(Object.defineProperty({ chatId: 'c' }, 'store', { get: boom, enumerable: true })),
      "The options can't be read: boom.",
    ],
    [
      'useChats(…, a proxy)',
      () => useChats(new InMemoryContextStore(), throwing()),
      "The options can't be read: boom.",
    ],
    ['useChats(5)', () => useChats(5 as never), 'store must be a ContextStore, and is 5.'],
  ])('is refused in words: %s', (_, use, message) => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    expect(caught(() => renderHook(use))).toMatchObject({ code: 'invalid-options', message });
  });
});

describe('a hook without a provider', () => {
  it.each<[string, () => unknown]>([
    ['useBranches()', () => useBranches()],
    ['useContextChat()', () => useContextChat()],
  ])('says what is missing and what to do: %s', (_, use) => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const failure = caught(() => renderHook(use));
    expect(isContextError(failure, 'provider-missing')).toBe(true);
    expect(String(failure)).toMatch(/<ContextEngineProvider chatId=/);
  });
});

function boom(): never {
  throw new Error('boom');
}

function throwing(): { chatId: string; userId?: string } {
  return new Proxy({ chatId: 'c' }, { get: boom, ownKeys: boom });
}

function caught(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

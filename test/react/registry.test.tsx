import { act, render, renderHook, waitFor } from '@testing-library/react';
import {
  ContextEngineProvider,
  ContextError,
  InMemoryContextStore,
  MarkdownRenderer,
  XmlRenderer,
  useContextEngine,
} from 'contextree';
import type { ContextEngine } from 'contextree';
import { Activity, StrictMode, type ReactNode } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { answer, asked, settle } from './harness.tsx';

/** Two renderers of an app that keep no data: only their classes differ. */
class OwnRenderer {
  render(): string {
    return 'own';
  }
}
class OtherRenderer {
  render(): string {
    return 'other';
  }
}

describe('the engine of a chat', () => {
  it('is one for all components that name the same store, chat and user', () => {
    const store = new InMemoryContextStore();
    const engines = new Set<ContextEngine>();
    const Part = (): ReactNode => {
      engines.add(useContextEngine({ chatId: 'c', userId: 'me', store }).engine);
      return null;
    };
    render(
      <StrictMode>
        <Part />
        <Part />
        <ContextEngineProvider chatId="c" userId="me" store={store}>
          <Inner into={engines} />
        </ContextEngineProvider>
      </StrictMode>,
    );
    expect(engines.size).toBe(1);
  });

  it.each([
    ['chat', { chatId: 'other' }],
    ['user', { userId: 'other' }],
    ['store', { store: new InMemoryContextStore() }],
  ])('is another one for another %s', (_what, difference) => {
    const options = { chatId: 'c', userId: 'me', store: new InMemoryContextStore() };
    const { result } = renderHook(() => [
      useContextEngine(options).engine,
      useContextEngine({ ...options, ...difference }).engine,
    ]);
    expect(result.current[0]).not.toBe(result.current[1]);
  });

  it('is the same in every render, even with a store that is made anew each time', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const { result, rerender } = renderHook(() =>
      useContextEngine({ chatId: 'c', store: new InMemoryContextStore() }),
    );
    const { engine } = result.current;
    rerender();
    await settle(5);
    expect(result.current.engine).toBe(engine);
    expect(warn.mock.calls.join()).toMatch(/`store`.*`key`/);
  });

  it('is disposed a task after its last user is gone, and not before', async () => {
    const options = { chatId: 'c', store: new InMemoryContextStore() };
    const first = renderHook(() => useContextEngine(options));
    const second = renderHook(() => useContextEngine(options));
    const dispose = vi.spyOn(first.result.current.engine, 'dispose');
    first.unmount();
    await settle(5);
    expect(dispose).not.toHaveBeenCalled();
    second.unmount();
    expect(dispose).not.toHaveBeenCalled();
    await waitFor(() => expect(dispose).toHaveBeenCalledOnce());
    const { result } = renderHook(() => useContextEngine(options));
    expect(result.current.engine).not.toBe(second.result.current.engine);
  });

  it('is made again for a component that was hidden and is shown', async () => {
    const options = { chatId: 'c', store: new InMemoryContextStore() };
    const engines: ContextEngine[] = [];
    const Part = (): ReactNode => {
      const { engine, status } = useContextEngine(options);
      if (engines.at(-1) !== engine) engines.push(engine);
      return status;
    };
    const part = <Part />;
    const page = (mode: 'visible' | 'hidden'): ReactNode => <Activity mode={mode}>{part}</Activity>;
    const { container, rerender } = render(page('visible'));
    await settle(5);
    const dispose = vi.spyOn(engines[0]!, 'dispose');
    rerender(page('hidden'));
    await waitFor(() => expect(dispose).toHaveBeenCalledOnce());
    rerender(page('visible'));
    await waitFor(() => expect(container.textContent).toBe('ready'));
    expect(engines.length).toBe(2);
  });

  it('leaves no listener behind, however often chats are opened and closed', async () => {
    const store = new InMemoryContextStore();
    const stopped = vi.fn<() => void>();
    const subscribe = store.subscribe.bind(store);
    const subscribed = vi.spyOn(store, 'subscribe').mockImplementation((listener) => {
      const stop = subscribe(listener);
      return () => {
        stopped();
        stop();
      };
    });
    for (let i = 0; i < 50; i++) {
      const { unmount } = renderHook(() => useContextEngine({ chatId: `c${i}`, store }), {
        reactStrictMode: true,
      });
      if (i % 2 === 0) await settle();
      unmount();
    }
    await waitFor(() => expect(subscribed.mock.calls.length).toBeGreaterThan(10));
    await waitFor(() => expect(stopped).toHaveBeenCalledTimes(subscribed.mock.calls.length));
  });

  it('stays while an answer streams, and goes when it is complete', async () => {
    const options = { chatId: 'c', store: new InMemoryContextStore() };
    const { result, unmount } = renderHook(() => useContextEngine(options));
    const { engine } = result.current;
    const dispose = vi.spyOn(engine, 'dispose');
    const id = await asked(engine, 'q1');
    unmount();
    await settle(5);
    expect(dispose).not.toHaveBeenCalled();
    const again = renderHook(() => useContextEngine(options));
    expect(again.result.current.engine).toBe(engine);
    again.unmount();
    await engine.updateMessage(id, answer(id, 'hello'), 'complete');
    await waitFor(() => expect(dispose).toHaveBeenCalledOnce());
  });

  it('stays while words are only in memory', async () => {
    const store = new InMemoryContextStore();
    const options = { chatId: 'c', store };
    const { result, unmount } = renderHook(() => useContextEngine(options));
    const { engine } = result.current;
    const dispose = vi.spyOn(engine, 'dispose');
    await act(() => engine.ready());
    const refuse = vi.spyOn(store, 'commit').mockRejectedValue(new ContextError('quota-exceeded', 'full'));
    await asked(engine, 'q1', 'a1');
    await act(() => engine.updateMessage('a1', answer('a1', 'x'), 'complete'));
    unmount();
    await settle(5);
    expect(dispose).not.toHaveBeenCalled();
    refuse.mockRestore();
    await act(() => engine.retry());
    await waitFor(() => expect(dispose).toHaveBeenCalledOnce());
  });
});

describe('options that differ from the first ones', () => {
  const warn = vi.spyOn(console, 'warn');
  beforeEach(() => void warn.mockReset().mockImplementation(() => {}));

  const asked = (first: object, second: object): void => {
    const options = { chatId: 'c', store: new InMemoryContextStore() };
    const { rerender } = renderHook(() => [
      useContextEngine({ ...options, ...first }),
      useContextEngine({ ...options, ...second }),
    ]);
    rerender();
  };

  it.each([
    ['metadata', { metadata: { plan: 'free' } }, { metadata: { plan: 'pro' } }],
    ['renderer', { renderer: new XmlRenderer() }, { renderer: new MarkdownRenderer() }],
    ['renderer', { renderer: new OwnRenderer() }, { renderer: new OtherRenderer() }],
    ['onConflict', { onConflict: 'fork' }, { onConflict: 'error' }],
    ['persistFragments', {}, { persistFragments: true }],
  ])('are said aloud: %s', (name, first, second) => {
    asked(first, second);
    expect(warn).toHaveBeenCalledOnce();
    expect(warn.mock.calls[0]?.[0]).toContain(`\`${name}\``);
  });

  it('are not what is equal, or left out', () => {
    asked({ metadata: { plan: 'free' } }, { metadata: { plan: 'free' } });
    asked({ renderer: new XmlRenderer() }, { renderer: new XmlRenderer() });
    asked({ validate: () => {} }, { validate: () => {} });
    asked({ metadata: { plan: 'free' }, onConflict: 'error' }, {});
    expect(warn).not.toHaveBeenCalled();
  });

  it('are not looked at in production', () => {
    vi.stubEnv('NODE_ENV', 'production');
    asked({ metadata: { plan: 'free' } }, { metadata: { plan: 'pro' } });
    vi.unstubAllEnvs();
    expect(warn).not.toHaveBeenCalled();
  });
});

function Inner({ into }: { readonly into: Set<ContextEngine> }): ReactNode {
  into.add(useContextEngine().engine);
  return null;
}

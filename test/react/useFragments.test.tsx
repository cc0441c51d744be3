import { act, render, renderHook, waitFor } from '@testing-library/react';
import {
  ContextEngineProvider,
  fragment,
  hint,
  role,
  useContextEngine,
  useEngineState,
  useFragments,
  user,
} from 'contextree';
import type { ContextEngine, ContextFragment } from 'contextree';
import { reminder } from 'contextree/reminders';
import { Profiler, StrictMode, useState, type ReactNode } from 'react';
import { describe, expect, it, vi } from 'vitest';
import { engineOn, settle, under } from './harness.tsx';

describe('useFragments', () => {
  it('puts fragments into the prompt while the component is mounted', async () => {
    const engine = engineOn();
    const { unmount } = renderHook(() => useFragments(role('tutor'), hint('be brief')), {
      wrapper: under(engine),
    });
    expect(prompt(engine)).toEqual(['tutor', 'be brief']);
    unmount();
    expect(prompt(engine)).toEqual([]);
  });

  it('takes reminders, the newest ones, without a change of state', async () => {
    const engine = engineOn();
    const say = saying(engine, (word: string) => [reminder(() => word)], 'one');
    const before = engine.state.getState().fragments;
    say('two');
    expect(engine.state.getState().fragments).toBe(before);
    engine.set(user('Hello'));
    const { messages } = await act(() => engine.resolve());
    expect(messages[0]?.parts).toMatchObject([{ text: expect.stringContaining('two') }]);
  });

  it('gives each mount an entry of its own, equal ones too', () => {
    const engine = engineOn();
    const page = (twice: boolean): ReactNode => (
      <>
        <Says text="same" />
        {twice && <Says text="same" />}
      </>
    );
    const { rerender } = render(page(true), { wrapper: under(engine) });
    expect(prompt(engine)).toEqual(['same', 'same']);
    rerender(page(false));
    expect(prompt(engine)).toEqual(['same']);
  });

  it('changes the state when what it says changes, and only then', () => {
    const engine = engineOn();
    const says = (text: string) => [hint(text), fragment('rules', { nested: [text] })];
    const say = saying(engine, says, 'one');
    const before = engine.state.getState();
    say('one');
    expect(engine.state.getState()).toBe(before);
    say('two');
    expect(engine.state.getState().fragments).not.toBe(before.fragments);
  });

  it.each<[string, (said: string) => ContextFragment]>([
    ['a function', (said) => fragment('now', () => said)],
    ['a promise', (said) => fragment('now', Promise.resolve(said))],
    ['a function deep in data', (said) => fragment('now', { deep: [() => said] })],
    ['a function in a builder', (said) => hint(() => said)],
    ['an iterable', (said) => fragment('now', new Set([said]))],
  ])('uses the newest of %s, without a change of state', async (_kind, say) => {
    const engine = engineOn();
    const sayNow = saying(engine, (said: string) => [say(said)], 'old words');
    const before = engine.state.getState();
    sayNow('new words');
    expect(engine.state.getState()).toBe(before);
    const { systemPrompt } = await act(() => engine.resolve());
    expect(systemPrompt).toContain('new words');
    expect(systemPrompt).not.toContain('old words');
  });

  it('tells a function from a text at the same place', () => {
    const engine = engineOn();
    const say = saying(engine, (data: string | (() => string)) => [fragment('x', data)], 'lazy');
    const before = engine.state.getState();
    say(() => 'later');
    expect(engine.state.getState()).not.toBe(before);
  });

  it('sees what a codec of the app says', async () => {
    const engine = engineOn();
    const codec = (said: string) => ({ encode: () => ({ type: 'own', said }), decode: () => said });
    const say = saying(engine, (said: string) => [{ name: 'own', codec: codec(said) }], 'one');
    say('two');
    expect((await act(() => engine.resolve())).systemPrompt).toContain('two');
  });

  it.each<[string, () => unknown, RegExp]>([
    ['throws', () => raise('boom'), /^Fragment "own": data cannot be read: boom/],
    ['gives a circle', () => circle(), /^Fragment "own": data\[0\].* is circular/],
    ['gives what is no data', () => [10n], /^Fragment "own": data\[0\] is of type bigint/],
  ])('refuses a fragment whose codec %s, with its path', (_what, decode, told) => {
    const codec = { encode: () => ({ type: 'own' }), decode };
    const show = (): unknown =>
      renderHook(() => useFragments(hint('fine'), { name: 'own', codec }), { wrapper: under(engineOn()) });
    const path = expect.stringMatching(/^data/) as string;
    const message = expect.stringMatching(told) as string;
    expect(show).toThrow(expect.objectContaining({ code: 'invalid-fragment', message, details: { path } }));
  });

  it('leaves notes out of the comparison: they are never rendered', () => {
    const engine = engineOn();
    const say = saying(engine, (note: unknown) => [{ ...hint('same'), metadata: { note } }], circle());
    const before = engine.state.getState();
    say([2]);
    expect(engine.state.getState()).toBe(before);
  });

  it('changes with one engine, and moves to another', () => {
    const [one, two] = [engineOn(), engineOn()];
    const { rerender } = renderHook(({ engine }) => useFragments(engine, hint('here')), {
      initialProps: { engine: one },
      reactStrictMode: true,
    });
    rerender({ engine: two });
    expect(prompt(one)).toEqual([]);
    expect(prompt(two)).toEqual(['here']);
  });

  it('comes to rest in a component that shows the fragments itself', async () => {
    const engine = engineOn();
    const Both = (): ReactNode => {
      useFragments(
        hint('here'),
        fragment('now', () => performance),
      );
      return <p>{useEngineState((state) => state.fragments.length)}</p>;
    };
    const renders = vi.fn<() => void>();
    const { container } = render(
      <ContextEngineProvider engine={engine}>
        <Profiler id="both" onRender={renders}>
          <Both />
        </Profiler>
      </ContextEngineProvider>,
    );
    await waitFor(() => expect(container.textContent).toBe('2'));
    await settle(5);
    expect(renders).toHaveBeenCalledTimes(2);
  });

  it('says nothing of a promise that failed before anyone asked; resolve() does', async () => {
    const unhandled = vi.fn<() => void>();
    process.on('unhandledRejection', unhandled);
    const engine = engineOn();
    renderHook(() => useFragments(fragment('x', Promise.reject(new Error('no net')))), {
      wrapper: under(engine),
    });
    await settle(10);
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
    await expect(engine.resolve()).rejects.toThrow('no net');
  });
});

describe('the fragments of useContextEngine', () => {
  it('are in the prompt while the component is mounted', () => {
    const engine = engineOn();
    const options = { chatId: 'c', store: engine.store };
    const { result, rerender } = renderHook(
      ({ text }) => useContextEngine({ ...options, fragments: [role(text)] }).engine,
      { initialProps: { text: 'tutor' }, reactStrictMode: true },
    );
    expect(prompt(result.current)).toEqual(['tutor']);
    rerender({ text: 'poet' });
    expect(prompt(result.current)).toEqual(['poet']);
  });
});

/** A component that says this, and can say something else. */
function saying<T>(
  engine: ContextEngine,
  fragments: (said: T) => readonly ContextFragment[],
  first: NoInfer<T>,
): (said: T) => void {
  const { rerender } = renderHook(({ said }: { said: T }) => useFragments(...fragments(said)), {
    initialProps: { said: first },
    wrapper: under(engine),
  });
  return (said) => rerender({ said });
}

function Says({ text, children }: { readonly text: string; readonly children?: ReactNode }): ReactNode {
  useFragments(hint(text));
  const [isOpen] = useState(true);
  return <StrictMode>{isOpen && children}</StrictMode>;
}

/** The words of the prompt, in order. */
function prompt(engine: ContextEngine): string[] {
  return engine
    .render()
    .split('\n')
    .map((line) => line.replaceAll(/<[^>]*>/g, '').trim())
    .filter(Boolean);
}

function raise(reason: string): never {
  throw new Error(reason);
}

function circle(): unknown[] {
  const circle: unknown[] = [];
  circle.push(circle);
  return circle;
}

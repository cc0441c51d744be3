import { act, renderHook } from '@testing-library/react';
import { useBranches, useCheckpoint } from 'contextree';
import { describe, expect, it, vi } from 'vitest';
import { engineOn, say, settle, shown, under } from './harness.tsx';

async function talk() {
  const engine = engineOn();
  await say(engine, 'q1', 'a1', 'q2', 'a2');
  return engine;
}

describe('useBranches', () => {
  it('lists the branches and says which one is shown', async () => {
    const engine = await talk();
    const { result } = renderHook(() => useBranches(), { wrapper: under(engine) });
    expect(result.current.branches).toMatchObject([{ name: 'main', messageCount: 4, isActive: true }]);
    expect(result.current.current).toBe(result.current.branches[0]);
    expect(result.current).toMatchObject({ isPending: false, error: null });
  });

  it('rewinds, switches back, renames and removes', async () => {
    const engine = await talk();
    const { result } = renderHook(() => useBranches(), { wrapper: under(engine) });
    const made = await act(() => result.current.rewind('a1'));
    expect(made).toMatchObject({ name: 'main-v2', headMessageId: 'a1' });
    expect(result.current.current?.name).toBe('main-v2');
    expect(shown(engine)).toEqual(['q1', 'a1']);
    await act(() => result.current.rename('main-v2', 'idea'));
    await act(() => result.current.switchBranch('main'));
    expect(result.current.current?.name).toBe('main');
    await act(() => result.current.remove('idea'));
    expect(result.current.branches.map(({ name }) => name)).toEqual(['main']);
  });

  it('is pending while an action runs', async () => {
    const engine = await talk();
    const { result } = renderHook(() => useBranches(), { wrapper: under(engine) });
    let action: Promise<unknown> | undefined;
    act(() => {
      action = result.current.rewind('a1');
    });
    expect(result.current.isPending).toBe(true);
    await act(async () => {
      await action;
    });
    expect(result.current.isPending).toBe(false);
  });

  it('tells of a failure to the caller and in `error`, until the next action', async () => {
    const engine = await talk();
    const { result } = renderHook(() => useBranches(), { wrapper: under(engine) });
    let failure: unknown;
    await act(async () => {
      failure = await result.current.switchBranch('nope').catch((error: unknown) => error);
    });
    expect(failure).toMatchObject({ code: 'branch-not-found' });
    expect(result.current.error).toBe(failure);
    expect(result.current.isPending).toBe(false);
    await act(() => result.current.btw());
    expect(result.current.error).toBeNull();
  });

  it('never shows the failure of another chat', async () => {
    const [one, two] = [await talk(), await talk()];
    const { result, rerender } = renderHook(({ engine }) => useBranches(engine), {
      initialProps: { engine: one },
    });
    await act(() => result.current.switchBranch('nope').catch(() => {}));
    expect(result.current.error).not.toBeNull();
    const late = Promise.withResolvers<never>();
    vi.spyOn(one, 'btw').mockReturnValue(late.promise);
    act(() => void result.current.btw().catch(() => {}));
    rerender({ engine: two });
    expect(result.current).toMatchObject({ error: null, isPending: false });
    await act(() => result.current.switchBranch('gone').catch(() => {}));
    await act(async () => late.reject(new Error('of the chat before')));
    expect(result.current.error).toMatchObject({ code: 'branch-not-found' });
  });
});

describe('useCheckpoint', () => {
  it('names a place, comes back to it, renames and removes it', async () => {
    const engine = await talk();
    const { result } = renderHook(() => useCheckpoint(), { wrapper: under(engine) });
    await act(() => result.current.checkpoint('here'));
    await settle(2);
    await act(() => result.current.checkpoint('early', { at: 'a1' }));
    expect(result.current.checkpoints.map(({ name, messageId }) => [name, messageId])).toEqual([
      ['early', 'a1'],
      ['here', 'a2'],
    ]);
    const branch = await act(() => result.current.restore('early'));
    expect(branch.name).toBe('main-v2');
    expect(shown(engine)).toEqual(['q1', 'a1']);
    await act(() => result.current.rename('early', 'start'));
    await act(() => result.current.remove('here'));
    expect(result.current.checkpoints.map(({ name }) => name)).toEqual(['start']);
  });
});

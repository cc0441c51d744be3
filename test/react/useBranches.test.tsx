import { act, renderHook, waitFor } from '@testing-library/react';
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

  it('is empty for a chat that nothing was saved to', async () => {
    const engine = engineOn();
    const { result } = renderHook(() => useBranches(), { wrapper: under(engine) });
    await act(() => engine.ready());
    expect(result.current).toMatchObject({ branches: [], current: undefined });
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

  it('makes a branch by the way, and stays', async () => {
    const engine = await talk();
    const { result } = renderHook(() => useBranches(), { wrapper: under(engine) });
    await act(() => result.current.btw());
    expect(result.current.branches.map(({ name, isActive }) => [name, isActive])).toEqual([
      ['main', true],
      ['main-v2', false],
    ]);
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

  it.each([
    ['last-branch', (hook: ReturnType<typeof useBranches>) => hook.remove('main')],
    ['message-not-found', (hook: ReturnType<typeof useBranches>) => hook.rewind('nobody')],
    ['invalid-options', (hook: ReturnType<typeof useBranches>) => hook.rename('main', '  ')],
  ])('refuses with %s', async (code, run) => {
    const engine = await talk();
    const { result } = renderHook(() => useBranches(), { wrapper: under(engine) });
    await act(() => expect(run(result.current)).rejects.toMatchObject({ code }));
    expect(result.current.error).toMatchObject({ code });
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

  it('gives the same functions in every render', async () => {
    const engine = await talk();
    const { result } = renderHook(() => useBranches(), { wrapper: under(engine) });
    const { switchBranch, rewind, btw, rename, remove } = result.current;
    await act(() => result.current.btw());
    expect(result.current).toMatchObject({ switchBranch, rewind, btw, rename, remove });
  });

  it('shows the branch that has the name by now, where an older tab began with it', async () => {
    const engine = await talk();
    const { result } = renderHook(() => useBranches(), { wrapper: under(engine) });
    const first = engine.state.getState().branchId;
    await act(() => engine.rewind('a1'));
    await act(() => result.current.rename(first, 'old'));
    await act(() => result.current.rename('main-v2', 'main'));
    await act(() => result.current.switchBranch(first));
    expect(result.current.current?.name).toBe('old');
    await act(() => result.current.switchBranch('main'));
    expect(result.current.current?.name).toBe('main');
  });

  it('hears of a branch that another tab makes', async () => {
    const engine = await talk();
    const other = engineOn(engine.store);
    const { result } = renderHook(() => useBranches(), { wrapper: under(engine) });
    await act(() => other.btw());
    await waitFor(() => expect(result.current.branches).toHaveLength(2));
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

  it('tells of a checkpoint that is not there', async () => {
    const engine = await talk();
    const { result } = renderHook(() => useCheckpoint(), { wrapper: under(engine) });
    await act(() =>
      expect(result.current.restore('nope')).rejects.toMatchObject({ code: 'checkpoint-not-found' }),
    );
    expect(result.current.error).toMatchObject({ code: 'checkpoint-not-found' });
  });

  it('refuses in an empty chat', async () => {
    const { result } = renderHook(() => useCheckpoint(), { wrapper: under(engineOn()) });
    await act(() => expect(result.current.checkpoint('x')).rejects.toMatchObject({ code: 'empty-branch' }));
  });
});

import { act, renderHook, waitFor } from '@testing-library/react';
import { useHistory, type ContextEngine, type UseHistoryResult } from 'contextree';
import { describe, expect, it } from 'vitest';
import { engineOn, say, shown, under } from './harness.tsx';

async function talk(): Promise<ContextEngine> {
  const engine = engineOn();
  await say(engine, 'q1', 'a1', 'q2', 'a2');
  return engine;
}

function open(engine: ContextEngine): { readonly current: UseHistoryResult } {
  return renderHook(() => useHistory(), { wrapper: under(engine) }).result;
}

const names = (engine: ContextEngine): string[] => engine.state.getState().branches.map(({ name }) => name);

describe('useHistory', () => {
  it('has nothing to take back where nothing was done, whatever was said', async () => {
    const hook = open(await talk());
    expect(hook.current).toMatchObject({
      canUndo: false,
      canRedo: false,
      undoLabel: undefined,
      redoLabel: undefined,
      operations: [],
      isPending: false,
      error: null,
    });
    expect(await act(() => hook.current.undo())).toBeUndefined();
    expect(await act(() => hook.current.redo())).toBeUndefined();
  });

  it('takes back and does again what was done to branches and checkpoints, the last one first', async () => {
    const engine = await talk();
    const hook = open(engine);
    await act(() => engine.rewind('a1'));
    await act(() => engine.renameBranch('main-v2', 'idea'));
    await act(() => engine.renameBranch('idea', 'better'));
    await act(() => engine.checkpoint('here'));
    await act(() => engine.deleteBranch('main'));
    const steps = ['Delete branch main', 'Checkpoint here', 'Rename branch idea → better'];
    for (const step of [...steps, 'Rename branch main-v2 → idea', 'Branch off main-v2']) {
      expect(hook.current.undoLabel).toBe(step);
      await act(() => hook.current.undo());
      expect(hook.current.redoLabel).toBe(step);
    }
    expect(names(engine)).toEqual(['main']);
    expect(shown(engine)).toEqual(['q1', 'a1', 'q2', 'a2']);
    expect(hook.current.canUndo).toBe(false);
    while (hook.current.canRedo) await act(() => hook.current.redo());
    expect(names(engine)).toEqual(['better']);
    expect(shown(engine)).toEqual(['q1', 'a1']);
    expect(engine.state.getState().checkpoints.map(({ name }) => name)).toEqual(['here']);
  });

  it('is refused where another tab came after', async () => {
    const engine = await talk();
    const other = engineOn(engine.store);
    const hook = open(engine);
    await act(() => engine.renameBranch('main', 'mine'));
    await act(() => other.renameBranch('mine', 'theirs'));
    await waitFor(() => expect(names(engine)).toEqual(['theirs']));
    expect(hook.current).toMatchObject({ canUndo: false, undoLabel: undefined });
    expect(hook.current.operations).toMatchObject([{ kind: 'rename-branch', state: 'overtaken' }]);
    await act(() => expect(hook.current.undo()).rejects.toMatchObject({ code: 'overtaken' }));
    expect(hook.current.error).toMatchObject({ code: 'overtaken' });
    expect(names(engine)).toEqual(['theirs']);
  });
});

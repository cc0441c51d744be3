import { act, renderHook } from '@testing-library/react';
import { isContextError, useMessageBranch } from 'contextree';
import { describe, expect, it, vi } from 'vitest';
import type { AttachedChat } from '../../src/engine/options.ts';
import { answer, engineOn, say, shown, threeAnswers, under } from './harness.tsx';

describe('useMessageBranch', () => {
  it('counts the versions of a message and knows its place', async () => {
    const engine = await threeAnswers();
    const { keys } = engine.siblings('a1');
    const { result } = renderHook(() => useMessageBranch(keys[1]!), { wrapper: under(engine) });
    expect(result.current).toMatchObject({
      index: 1,
      count: 3,
      branchNumber: 2,
      siblings: keys,
      hasSiblings: true,
      hasPrevious: true,
      hasNext: true,
      status: 'complete',
    });
  });

  it('is total: an unknown message has no versions, and going nowhere is fine', async () => {
    const engine = await threeAnswers();
    const { result } = renderHook(() => useMessageBranch('nobody'), { wrapper: under(engine) });
    expect(result.current).toMatchObject({
      index: -1,
      count: 0,
      branchNumber: 0,
      siblings: [],
      hasSiblings: false,
      hasPrevious: false,
      hasNext: false,
      status: undefined,
    });
    await result.current.goToNext();
    await result.current.goToPrevious();
  });

  it('selects a version by id or by place', async () => {
    const engine = await threeAnswers();
    const { ids } = engine.siblings('a1');
    const { result } = renderHook(() => useMessageBranch('a1'), { wrapper: under(engine) });
    await act(() => result.current.select(1));
    expect(engine.headMessageId).toBe(ids[1]);
    await act(() => result.current.select('a1'));
    expect(engine.headMessageId).toBe('a1');
    await expect(result.current.select(7)).rejects.toMatchObject({ code: 'message-not-found' });
    await expect(result.current.select('nobody')).rejects.toMatchObject({ code: 'message-not-found' });
  });

  it('edits by forking when no chat is attached: the old words stay', async () => {
    const engine = engineOn();
    await say(engine, 'q1', 'a1');
    const { result } = renderHook(() => useMessageBranch('q1'), { wrapper: under(engine) });
    await act(() => result.current.edit('better'));
    expect(shown(engine)).toEqual(['better']);
    expect(result.current.count).toBe(2);
    await act(() => result.current.goToPrevious());
    await act(() => result.current.select('q1'));
    expect(shown(engine)).toEqual(['q1', 'a1']);
  });

  it('edits and regenerates through the chat that is attached', async () => {
    const engine = engineOn();
    await say(engine, 'q1', 'a1');
    const chat = {
      edit: vi.fn<AttachedChat['edit']>(async () => {}),
      regenerate: vi.fn<AttachedChat['regenerate']>(async () => {}),
    };
    const detach = engine.attach(chat);
    const { result } = renderHook(() => useMessageBranch('a1'), { wrapper: under(engine) });
    await result.current.edit({ parts: [{ type: 'text', text: 'x' }] });
    await result.current.regenerate({ body: { model: 'm' } });
    expect(chat.edit).toHaveBeenCalledWith('a1', { parts: [{ type: 'text', text: 'x' }] });
    expect(chat.regenerate).toHaveBeenCalledWith('a1', { body: { model: 'm' } });
    detach();
  });

  it('cannot regenerate without an attached chat', async () => {
    const engine = await threeAnswers();
    const { result } = renderHook(() => useMessageBranch('a1'), { wrapper: under(engine) });
    const failure: unknown = await result.current.regenerate().catch((error: unknown) => error);
    expect(isContextError(failure, 'chat-missing')).toBe(true);
    expect(String(failure)).toContain('useContextChat');
  });

  it('has no place for a new answer before its first word', async () => {
    const engine = engineOn();
    await say(engine, 'q1', 'a1');
    const question = engine.message('q1')!;
    await act(() => engine.ask(question, { id: 'a2' }));
    const { result } = renderHook(() => useMessageBranch('a2'), { wrapper: under(engine) });
    expect(result.current).toMatchObject({ index: -1, hasPrevious: false, hasNext: false });
    expect(result.current.status).toBe('streaming');
    await act(() => result.current.goToNext());
    expect(engine.headMessageId).toBe('a2');
    const words = answer('a2', 'he');
    await act(() => engine.updateMessage('a2', words, 'streaming'));
    expect(result.current).toMatchObject({ branchNumber: 2, count: 2, hasPrevious: true, hasNext: false });
  });
});

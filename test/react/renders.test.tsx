import { act, render } from '@testing-library/react';
import type { UIMessage } from 'ai';
import {
  ContextEngineProvider,
  hint,
  useBranches,
  useCheckpoint,
  useContextEngine,
  useEngineState,
  useMessageBranch,
  user,
} from 'contextree';
import type { ContextEngine, EngineState } from 'contextree';
import { Profiler, memo, type ReactNode } from 'react';
import { beforeEach, describe, expect, it } from 'vitest';
import { answer, asked, engineOn, say } from './harness.tsx';

// A component renders when what it selects changes, and for nothing else. Counted exactly.

const counts: Record<string, number> = {};
beforeEach(() => {
  for (const name of Object.keys(counts)) counts[name] = 0;
});

function counted(name: string, useWatched: () => unknown): ReactNode {
  const Component = memo(function Counted() {
    useWatched();
    return null;
  });
  const count = (): void => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  return (
    <Profiler id={name} onRender={count}>
      <Component />
    </Profiler>
  );
}

function pagerOf(id: string): () => unknown {
  return function usePager() {
    return useMessageBranch(id);
  };
}

function slice<T>(selector: (state: EngineState) => T): () => T {
  return function useSlice() {
    return useEngineState(selector);
  };
}

/** Mounts the watchers and forgets the renders of mounting. */
async function watch(engine: ContextEngine, watchers: Record<string, () => unknown>): Promise<void> {
  await act(() => engine.ready());
  render(
    <ContextEngineProvider engine={engine}>
      {Object.entries(watchers).map(([name, hook]) => (
        <div key={name}>{counted(name, hook)}</div>
      ))}
    </ContextEngineProvider>,
  );
  for (const name of Object.keys(watchers)) counts[name] = 0;
}

const words = (text: string): UIMessage => answer('a2', text);

describe('what renders', () => {
  it('when words stream in: a component that shows the messages, and no pager', async () => {
    const engine = engineOn();
    await say(engine, 'q1', 'a1');
    await asked(engine, 'q2', 'a2');
    await act(() => engine.updateMessage('a2', words('first'), 'streaming'));
    await watch(engine, {
      messages: useContextEngine,
      streamed: pagerOf('a2'),
      other: pagerOf('a1'),
      branches: useBranches,
      checkpoints: useCheckpoint,
      status: slice((state) => state.status),
    });
    await act(() => engine.updateMessage('a2', words('first second'), 'streaming'));
    await act(() => new Promise((resolve) => void setTimeout(resolve, 600)));
    expect(engine.message('a2')).toMatchObject(words('first second'));
    expect(counts).toMatchObject({ messages: 1, streamed: 0, other: 0 });
    expect(counts).toMatchObject({ branches: 0, checkpoints: 0, status: 0 });
  });

  it('when an answer settles: its own pager, once', async () => {
    const engine = engineOn();
    await asked(engine, 'q1', 'a2');
    await act(() => engine.updateMessage('a2', words('first'), 'streaming'));
    await watch(engine, { streamed: pagerOf('a2'), other: pagerOf('q1') });
    await act(() => engine.updateMessage('a2', words('whole'), 'complete'));
    expect(counts).toMatchObject({ streamed: 1, other: 0 });
  });

  it('when a message is saved: a component that selects the messages or the branch, once', async () => {
    const engine = engineOn();
    await say(engine, 'q1', 'a1');
    await watch(engine, {
      messages: slice((state) => state.messages),
      head: slice((state) => state.headMessageId),
      branches: useBranches,
      pager: pagerOf('a1'),
      checkpoints: useCheckpoint,
      fragments: slice((state) => state.fragments),
      name: slice((state) => state.branch),
      persistence: slice((state) => state.persistence),
    });
    await say(engine, 'q2');
    expect(counts).toMatchObject({ messages: 1, head: 1, branches: 1 });
    expect(counts).toMatchObject({ pager: 0, checkpoints: 0, fragments: 0, name: 0, persistence: 0 });
  });

  it('when a version is added: the pagers of its siblings only', async () => {
    const engine = engineOn();
    await say(engine, 'q1', 'a1');
    await watch(engine, { sibling: pagerOf('a1'), other: pagerOf('q1') });
    await act(() => engine.edit('a1', 'other words'));
    expect(counts).toMatchObject({ sibling: 1, other: 0 });
  });

  it('when something is set: a component that shows pending messages or fragments', async () => {
    const engine = engineOn();
    await say(engine, 'q1', 'a1');
    await watch(engine, {
      everything: useContextEngine,
      pending: slice((state) => state.pending),
      fragments: slice((state) => state.fragments),
      branches: useBranches,
    });
    act(() => void engine.set(user('soon')));
    expect(counts).toMatchObject({ everything: 0, pending: 1, fragments: 0, branches: 0 });
    act(() => void engine.set(hint('brief')));
    expect(counts).toMatchObject({ everything: 0, pending: 1, fragments: 1, branches: 0 });
  });

  it('when a checkpoint is made: a component that lists checkpoints', async () => {
    const engine = engineOn();
    await say(engine, 'q1', 'a1');
    await watch(engine, {
      checkpoints: useCheckpoint,
      branches: useBranches,
      pager: pagerOf('a1'),
    });
    await act(() => engine.checkpoint('here'));
    expect(counts).toMatchObject({ checkpoints: 1, branches: 0, pager: 0 });
  });
});

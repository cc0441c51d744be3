import { act, cleanup, renderHook } from '@testing-library/react';
import {
  assistantText,
  InMemoryContextStore,
  isContextError,
  useBranches,
  useChats,
  useEngineState,
  useHistory,
  useMessageBranch,
  user,
} from 'contextree';
import type { ContextEngine, ContextStore } from 'contextree';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { campaign, patience, tellCases } from '../support/campaign.ts';
import { unhandledRejections } from '../support/unhandled.ts';
import { engineOn, say, settle } from './harness.tsx';

/**
 * Two tabs on one chat, whose store answers and tells of changes in any order: what the hooks show is never torn, and in
 * the end it is what is stored.
 */
type Does = (typeof KINDS)[number];

const KINDS = [
  'say',
  'edit',
  'page',
  'rewind',
  'btw',
  'switch',
  'rename',
  'remove',
  'title',
  'take back',
  'undo',
] as const;

interface Step {
  readonly does: Does;
  readonly pick: number;
}

const tabs: fc.Arbitrary<readonly Step[][]> = fc.array(
  fc.array(fc.record({ does: fc.constantFrom(...KINDS), pick: fc.nat(6) }), { minLength: 1, maxLength: 5 }),
  { minLength: 2, maxLength: 2 },
);

/** A store that did what it was asked, and whose answers come when their turn is; so do its notices. */
function answeringLate(store: ContextStore, scheduler: fc.Scheduler): ContextStore {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name === 'subscribe')
        return (hear: (notice: unknown) => void) =>
          target.subscribe((notice) => void scheduler.schedule(Promise.resolve(notice), 'notice').then(hear));
      return (...args: unknown[]): unknown => {
        const answer: unknown = Reflect.apply(value, target, args);
        if (!(answer instanceof Promise)) return answer;
        // The scheduler listens only when its turn has come.
        answer.catch(() => undefined);
        return scheduler.schedule(answer, String(name));
      };
    },
  });
}

/** All that the hooks show of a tab. */
function useTab(engine: ContextEngine, store: ContextStore) {
  const branches = useBranches(engine);
  const messages = useEngineState((state) => state.messages, engine);
  const last = useEngineState(() => engine.node(messages.at(-1)?.id ?? '')?.key ?? '', engine);
  return {
    branches,
    messages,
    history: useHistory(engine),
    version: useMessageBranch(last, engine),
    chats: useChats(store, { userId: 'me' }),
    last,
  };
}

type Tab = ReturnType<typeof useTab>;

/** What is wrong with what one render shows, whatever is under way. */
function tornIn({ branches: { branches, current }, version, last, chats: { chats } }: Tab): string[] {
  const active = branches.filter(({ isActive }) => isActive);
  // A message whose branch another tab deleted is no version any more, and is shown until another branch is read.
  const isPlaced = version.siblings[version.index] === (version.siblings.includes(last) ? last : undefined);
  return [
    ...(active.length > 1 || active[0] !== current ? ['more than one branch is shown'] : []),
    ...(new Set(branches.map(({ id }) => id)).size < branches.length ? ['a branch is listed twice'] : []),
    ...(isPlaced ? [] : [`version ${version.index} of ${version.siblings.join()} is not ${last}`]),
    ...(new Set(chats.map(({ id }) => id)).size < chats.length ? ['a chat is listed twice'] : []),
  ];
}

describe('hooks of two tabs', () => {
  const unhandled = unhandledRejections();
  afterEach(cleanup);

  it('show what is stored, in whatever order answers and notices come', { timeout: patience }, async () => {
    let tried = 0;
    const options = campaign(50);
    await fc.assert(
      fc.asyncProperty(fc.scheduler({ act }), tabs, async (scheduler, stories) => {
        tried += 1;
        await play(scheduler, stories);
      }),
      options,
    );
    expect(tried).toBe(options.numRuns);
    tellCases(tried);
  });

  it('leave no rejection unhandled', async () => {
    expect(await unhandled()).toEqual([]);
  });
});

async function play(scheduler: fc.Scheduler, stories: readonly (readonly Step[])[]): Promise<void> {
  const store = new InMemoryContextStore();
  await say(engineOn(store), 'q1', 'a1');
  const wrong: string[] = [];
  const shown = stories.map(() => {
    const own = answeringLate(store, scheduler);
    const engine = engineOn(own);
    const { result } = renderHook(() => {
      const tab = useTab(engine, own);
      wrong.push(...tornIn(tab));
      return tab;
    });
    return { engine, result };
  });
  const fail = (error: unknown): void => void wrong.push(String(error));
  const playing = shown.map(({ engine, result }, i) =>
    playTab(scheduler, `${i}`, stories[i] ?? [], engine, result).catch(fail),
  );
  await end(scheduler, playing);
  // What was refused while the chat was deleted waits for whoever saves again, and its branch with it.
  await end(
    scheduler,
    shown.map(({ engine }) => engine.save().catch(fail)),
  );
  expect(wrong).toEqual([]);
  const [branches, chats, messages] = await Promise.all([
    store.listBranches('chat'),
    store.listChats({ userId: 'me' }),
    store.getMessages('chat'),
  ]);
  for (const { result } of shown) {
    const tab = result.current;
    expect(tab.branches.branches.map(({ name, headKey }) => [name, headKey])).toEqual(
      branches.map(({ name, headKey }) => [name, headKey]),
    );
    expect(tab.chats.chats).toEqual(chats);
    expect([tab.branches.isPending, tab.chats.isPending]).toEqual([false, false]);
    expect(tab.version.siblings).toContain(tab.last);
  }
  expect(messages.length).toBeGreaterThan(0);
  for (const { engine } of shown) engine.dispose();
  cleanup();
}

/** Lets all that waits come, until some work is done and nothing waits any more. */
async function end(scheduler: fc.Scheduler, work: readonly Promise<unknown>[]): Promise<void> {
  let isDone = false;
  void Promise.all(work).then(() => (isDone = true));
  // Some of it is on its way without a task of the scheduler's.
  for (let idle = 0; idle < 3; idle = isDone ? idle + 1 : 0) {
    await scheduler.waitIdle();
    await settle();
  }
}

async function playTab(
  scheduler: fc.Scheduler,
  name: string,
  steps: readonly Step[],
  engine: ContextEngine,
  result: { readonly current: Tab },
): Promise<void> {
  await engine.ready();
  for (const [i, step] of steps.entries()) {
    await scheduler.schedule(Promise.resolve(), `${name}: ${step.does}`);
    await take(step, `${name}.${i}`, engine, result.current).catch((error: unknown) => {
      // The other tab may have been first; that is said in words of ours, and is no defect of a store.
      if (!isContextError(error) || error.code === 'invariant') throw error;
    });
  }
}

async function take({ does, pick }: Step, name: string, engine: ContextEngine, tab: Tab): Promise<unknown> {
  const { branches, chats, history, messages, version } = tab;
  const some = <T,>(list: readonly T[]): T | undefined => list[pick % Math.max(list.length, 1)];
  const branch = some(branches.branches)?.id ?? 'nobody';
  const message = some(messages)?.id ?? 'nobody';
  switch (does) {
    case 'say':
      return engine
        .set(user(`q${name}`, { id: `q${name}` }), assistantText(`a${name}`, { id: `a${name}` }))
        .save();
    case 'edit':
      return engine.edit(message, `other ${name}`);
    case 'page':
      return pick % 2 === 0 ? version.goToPrevious() : version.goToNext();
    case 'rewind':
      return branches.rewind(message);
    case 'btw':
      return branches.btw();
    case 'switch':
      return branches.switchBranch(branch);
    case 'rename':
      return branches.rename(branch, `name ${pick}`);
    case 'remove':
      return branches.remove(branch);
    case 'title':
      return chats.rename('chat', `title ${name}`);
    case 'take back':
      return pick % 3 === 0 ? history.redo() : history.undo();
    case 'undo':
      return (await chats.remove('chat'))();
  }
}

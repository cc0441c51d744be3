import { describe, expect, test } from 'vitest';
import type { ContextEngineOptions } from '../../src/engine/engine.ts';
import { assistant, assistantText, lastAssistantMessage, user } from '../../src/fragment/message.ts';
import { reminder } from '../../src/reminders.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { branchesIn, engineOn, said, say, texts } from '../support/engine.ts';
import { refusing } from '../support/refusal.ts';

type Engine = ReturnType<typeof engineOn>;

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));
const shown = (engine: Engine) => texts(engine.state.getState().messages);

/** An engine whose disk takes what is written, and says that it does not, until `answer()`. */
async function mute(before: readonly string[], options: Partial<ContextEngineOptions> = {}) {
  const inner = new InMemoryContextStore();
  await say(engineOn(inner), ...before);
  const { store, refuse } = refusing(inner);
  const engine = engineOn(store, options);
  await engine.ready();
  const branches = () => branchesIn(inner);
  const saveUnheard = async (saveOptions?: { readonly branch?: boolean }): Promise<void> => {
    refuse('store-closed', { late: true });
    await expect(engine.save(saveOptions)).rejects.toMatchObject({ code: 'store-closed' });
    await settled();
  };
  return { inner, engine, branches, saveUnheard, answer: () => refuse(undefined) };
}

async function isSafe({ engine, inner }: { engine: Engine; inner: InMemoryContextStore }): Promise<void> {
  expect(engine.state.getState().saveState).toEqual({ state: 'saved', pending: 0 });
  expect(await engineOn(inner).verify()).toEqual([]);
}

describe('a save() that the disk took and did not say so', () => {
  const repetitions: Record<string, (engine: Engine) => Promise<unknown>> = {
    'with retry()': (engine) => engine.retry(),
    'with another save()': (engine) => engine.save(),
    'with set() and another save()': (engine) => engine.set(user(said('q1', 'better'))).save(),
  };
  const repeated = Object.entries(repetitions);

  test.each(repeated)('makes other words once when they are saved again %s', async (_, repeat) => {
    const { inner, engine, branches, saveUnheard, answer } = await mute(['q1', 'a1']);
    engine.set(user(said('q1', 'better')));
    await saveUnheard();
    await saveUnheard();
    answer();
    await repeat(engine);
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'better' });
    expect(shown(engine)).toBe('better');
    await isSafe({ engine, inner });
    engine.set(user(said('q1', 'best')));
    await engine.save();
    expect(Object.values(await branches())).toEqual(['q1 > a1', 'better', 'best']);
  });

  test.each(repeated)('has what is new behind them once, too: %s', async (_, repeat) => {
    const { inner, engine, branches, saveUnheard, answer } = await mute(['q1', 'a1']);
    engine.set(user(said('q1', 'better')), assistant(said('a9', 'new')));
    await saveUnheard();
    answer();
    await repeat(engine);
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'better > new' });
    expect(shown(engine)).toBe('better > new');
    await isSafe({ engine, inner });
  });

  test.each(repeated)('counts a reminder once that goes with them: %s', async (_, repeat) => {
    const { inner, engine, branches, saveUnheard, answer } = await mute(['q1', 'a1'], {
      onConflict: 'error',
    });
    let count = 0;
    engine.set(reminder(() => `number ${(count += 1)}`));
    engine.set(user(said('q1', 'better')));
    await saveUnheard();
    answer();
    await repeat(engine);
    expect(Object.keys(await branches())).toEqual(['main', 'main-v2']);
    await isSafe({ engine, inner });
  });

  test.each([{ branch: true }, { branch: false }])('makes the first answer once: %o', async (saveOptions) => {
    for (const words of [assistantText('hello'), lastAssistantMessage('hello')]) {
      const { inner, engine, branches, saveUnheard, answer } = await mute(['q1']);
      engine.set(words);
      await saveUnheard(saveOptions);
      await engine.resolve();
      answer();
      await engine.retry();
      expect(await branches()).toEqual({ main: 'q1 > hello' });
      await isSafe({ engine, inner });
    }
  });

  test('has both once where it is taken twice', async () => {
    const { inner, engine, branches, saveUnheard, answer } = await mute(['q1', 'a1']);
    engine.set(user(said('q1', 'better')), assistant(said('a9', 'new')));
    await saveUnheard();
    await saveUnheard();
    answer();
    await engine.retry();
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'better > new' });
    await isSafe({ engine, inner });
  });

  test('makes one version beside an answer that it replaces', async () => {
    const { inner, engine, branches, saveUnheard, answer } = await mute(['q1', 'a1']);
    engine.set(lastAssistantMessage('better answer'), user(said('q1', 'better')));
    await saveUnheard();
    answer();
    await engine.retry();
    expect(await branches()).toEqual({ main: 'q1 > better answer', 'main-v2': 'better' });
    await isSafe({ engine, inner });
  });

  test('comes back with its branch where another tab deleted that', async () => {
    const { inner, engine, branches, saveUnheard, answer } = await mute(['q1', 'a1']);
    engine.set(user(said('q1', 'better')));
    await saveUnheard();
    answer();
    await engineOn(inner).deleteBranch('main-v2');
    await engine.retry();
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'better' });
    expect(shown(engine)).toBe('better');
    await isSafe({ engine, inner });
  });

  test('comes back with the branch that it was sent to, where another tab deleted that', async () => {
    const { inner, engine, branches, saveUnheard, answer } = await mute(['q1', 'a1']);
    engine.set(user(said('mine')));
    await say(engineOn(inner), 'yours');
    await saveUnheard();
    expect(await branches()).toEqual({ main: 'q1 > a1 > yours', 'main-v2': 'q1 > a1 > mine' });
    answer();
    await engineOn(inner).deleteBranch('main-v2');
    await settled();
    await engine.retry();
    expect(await branches()).toEqual({ main: 'q1 > a1 > yours', 'main-v2': 'q1 > a1 > mine' });
    expect(shown(engine)).toBe('q1 > a1 > mine');
    await isSafe({ engine, inner });
  });

  test('stands beside what another tab made of it since', async () => {
    const { inner, engine, branches, saveUnheard, answer } = await mute(['q1', 'a1']);
    engine.set(user(said('q1', 'better')));
    await saveUnheard();
    answer();
    const other = engineOn(inner);
    await other.switchBranch('main-v2');
    const { id } = other.state.getState().messages[0]!;
    await other.updateMessage(id, said(id, 'much better'));
    await engine.retry();
    expect(Object.values(await branches()).toSorted()).toEqual(['better', 'much better', 'q1 > a1']);
    expect(shown(engine)).toBe('better');
    await isSafe({ engine, inner });
  });

  test('is followed by what is set before it is repeated', async () => {
    const { inner, engine, branches, saveUnheard, answer } = await mute(['q1', 'a1']);
    engine.set(user(said('q1', 'better')));
    await saveUnheard();
    engine.set(assistant(said('a2')));
    await saveUnheard();
    answer();
    await engine.retry();
    expect(await branches()).toEqual({ main: 'q1 > a1', 'main-v2': 'better > a2' });
    expect(shown(engine)).toBe('better > a2');
    expect(engine.state.getState().pending).toEqual([]);
    await isSafe({ engine, inner });
  });

  test('stays one version where something is asked before it is repeated', async () => {
    const { inner, engine, branches, saveUnheard, answer } = await mute(['q1', 'a1']);
    engine.set(user(said('q1', 'better')));
    await saveUnheard();
    answer();
    await engine.continue(said('q2'), { id: 'a2' });
    await engine.updateMessage('a2', said('a2'), 'complete');
    await engine.retry();
    expect(await branches()).toEqual({ main: 'q1 > a1 > q2 > a2', 'main-v2': 'better' });
    await isSafe({ engine, inner });
  });

  test('is saved as resolve() has it where other words are set for what stands before it', async () => {
    const { inner, engine, saveUnheard, answer } = await mute(['q1', 'a1']);
    engine.set(user(said('q1', 'better')));
    await saveUnheard();
    engine.set(assistant(said('a1', 'other')));
    answer();
    const { messages } = await engine.resolve();
    expect(texts(messages)).toBe('better > other');
    await engine.save();
    expect(shown(engine)).toBe('better > other');
    await isSafe({ engine, inner });
  });

  test('stays beside other words that are saved in its place', async () => {
    const { inner, engine, branches, saveUnheard, answer } = await mute(['q1', 'a1']);
    engine.set(user(said('q1', 'better')));
    await saveUnheard();
    answer();
    engine.set(user(said('q1', 'best')));
    await engine.save();
    expect(Object.values(await branches())).toEqual(['q1 > a1', 'better', 'best']);
    expect(shown(engine)).toBe('best');
    await isSafe({ engine, inner });
  });
});

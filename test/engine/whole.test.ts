import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { branchesIn, engineOn, said, say, texts } from '../support/engine.ts';
import { tornIn, touch, watched } from '../support/whole.ts';

// Every state that is told shows exactly the chain of its head, whatever else is done while something is read, and whatever
// can't be read.

const shown = (engine: ContextEngine): string => texts(engine.state.getState().messages);

/**
 * `main` (q1 > a1 > q2 > a2) and `main-v2` (q1 > a3), which is shown. The tab is opened anew, so that it has read only what it
 * shows; a person does something else at each read of it.
 */
async function page() {
  const disk = new InMemoryContextStore();
  const other = engineOn(disk);
  await say(other, 'q1', 'a1', 'q2', 'a2');
  await other.checkpoint('long');
  await other.rewind('q1');
  await say(other, 'a3');
  const { store, onRead, failAt, hasFailed } = watched(disk);
  const engine = engineOn(store);
  await engine.ready();
  const torn = tornIn(engine);
  onRead(() => touch(engine));
  return { disk, other, engine, torn, failAt, hasFailed };
}

/** Until an engine has done all that it began, also what notices of other tabs made it do. */
async function quiet(engine: ContextEngine): Promise<void> {
  for (let i = 0; i < 9; i += 1) await engine.resolve({ at: 'q1' }).catch(() => {});
}

describe('what is shown', () => {
  test('is whole while another tab deletes the branch shown', async () => {
    const { other, engine, torn } = await page();
    expect([engine.branch, shown(engine)]).toEqual(['main-v2', 'q1 > a3']);
    await other.deleteBranch('main-v2');
    await quiet(engine);
    expect([engine.branch, shown(engine)]).toEqual(['main', 'q1 > a1 > q2 > a2']);
    expect(torn).toEqual([]);
  });

  test('is whole while another tab goes on with the branch shown, and changes its words', async () => {
    const { other, engine, torn } = await page();
    await other.updateMessage('a3', said('a3', 'better'));
    await say(other, 'q4', 'a4');
    await quiet(engine);
    expect(shown(engine)).toBe('q1 > better > q4 > a4');
    expect(torn).toEqual([]);
  });

  test('never has what another tab writes behind another branch', async () => {
    const { other, engine, torn } = await page();
    const beside = (): string => texts(engine.state.getState().elsewhere);
    await other.continue(said('q4'), { id: 'a4' });
    await other.updateMessage('a4', said('a4', 'grow'), 'streaming');
    await other.continue(said('q5'), { id: 'a5', branch: 'main' });
    await vi.waitFor(() => expect(beside()).toBe('q4 > grow'));
    await engine.switchBranch('main');
    expect(beside()).toBe('q5 > ');
    await engine.switchBranch('main-v2');
    expect(beside()).toBe('q4 > grow');
    await other.updateMessage('a4', said('a4', 'grown'), 'complete');
    await quiet(engine);
    expect([shown(engine), beside()]).toEqual(['q1 > a3 > q4 > grown', '']);
    expect(torn).toEqual([]);
  });

  test('is read again where it could not be read, though nobody tells of it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { other, engine, failAt } = await page();
    failAt(1);
    await other.deleteBranch('main-v2');
    await quiet(engine);
    expect([engine.branch, shown(engine)]).toEqual(['main-v2', 'q1 > a3']);
    await vi.advanceTimersByTimeAsync(2500);
    expect([engine.branch, shown(engine)]).toEqual(['main', 'q1 > a1 > q2 > a2']);
  });

  const DEEDS: Readonly<Record<string, (engine: ContextEngine, other: ContextEngine) => Promise<unknown>>> = {
    'switchBranch()': (engine) => engine.switchBranch('main'),
    'checkout()': (engine) => engine.checkout('q2'),
    'selectSibling()': (engine) => engine.selectSibling('a1'),
    'rewind()': (engine) => engine.rewind('a2'),
    'restore()': (engine) => engine.restore('long'),
    'edit()': (engine) => engine.edit('a2', 'other words'),
    'continue()': (engine) => engine.continue(said('q5'), { parentId: 'a2', id: 'a5' }),
    'save()': (engine) => say(engine, 'a2=other words', 'q6'),
    'deleteBranch()': (engine) => engine.deleteBranch('main-v2'),
    'updateMessage()': (engine) => engine.updateMessage('a2', (saved) => ({ ...saved, parts: [] })),
  };
  const METHODS: typeof DEEDS = {
    ...DEEDS,
    'another tab deletes the branch': (_, other) => other.deleteBranch('main-v2'),
    'another tab goes on': (_, other) => say(other, 'q4', 'a4'),
    'another tab changes its words': (_, other) => other.updateMessage('a3', said('a3', 'better')),
    'renameBranch()': (engine, other) =>
      Promise.all([other.deleteBranch('main-v2'), engine.renameBranch('main', 'other')]),
    'resolve()': (engine, other) =>
      Promise.all([other.deleteBranch('main-v2'), engine.resolve({ branch: 'main' })]),
  };

  test.each(Object.keys(METHODS))('is whole where a read fails, and goes on from there: %s', async (name) => {
    let k = 0;
    for (let hasFailed = true; hasFailed;) {
      k += 1;
      const { other, engine, torn, failAt, hasFailed: failed } = await page();
      failAt(k);
      await METHODS[name]?.(engine, other).catch(() => {});
      await quiet(engine);
      hasFailed = failed();
      failAt(0);
      const { headMessageId } = engine.state.getState();
      await engine.continue(said('q9'), { id: 'a9' });
      expect([k, engine.node('q9')?.parentId, torn]).toEqual([k, headMessageId, []]);
      expect(shown(engine)).toMatch(/q9$/);
    }
    expect(k).toBeGreaterThan(1);
  });

  /** What another tab has done that this one has not read. */
  const BEFORE: Readonly<Record<string, (other: ContextEngine) => Promise<unknown>>> = {
    nothing: async () => {},
    'another turn': (other) => say(other, 'q4', 'a4'),
    'a question': (other) => other.continue(said('q7'), { id: 'a7' }),
  };
  const HERE: typeof DEEDS = {
    ...DEEDS,
    'a question where one looks': (engine) => engine.continue(said('q5'), { id: 'a5' }),
    'a message where one looks': (engine) => say(engine, 'q6'),
  };
  const MARKS = ['switchBranch()', 'checkout()', 'selectSibling()'];
  const ALL = Object.keys(BEFORE).flatMap((before) =>
    Object.keys(HERE).flatMap((name) => [
      [name, before, 'one read'] as const,
      [name, before, 'all reads'] as const,
    ]),
  );

  /** What is wrong with a deed while the k-th read fails; undefined where there is no k-th. */
  async function wrongAt(k: number, [name, before, which]: readonly string[]): Promise<string | undefined> {
    const { disk, other, engine, torn, failAt, hasFailed } = await page();
    onTestFinished(() => [engine, other].forEach((one) => one.dispose()));
    failAt(k, which === 'all reads');
    await BEFORE[before ?? '']?.(other);
    const [{ seq }, words] = [await disk.load('c'), shown(engine)];
    const isDone = await HERE[name ?? '']?.(engine, other).then(
      () => true,
      () => false,
    );
    if (!hasFailed()) return undefined;
    // Whoever is told that it failed does it again.
    if (!isDone && !MARKS.includes(name ?? '') && (await disk.load('c')).seq !== seq) return `${k}: written`;
    if (!isDone && shown(engine) !== words) return `${k}: shown`;
    failAt(0);
    await vi.advanceTimersByTimeAsync(2500);
    await quiet(engine);
    const { saveState, branch } = engine.state.getState();
    if (saveState.state === 'saving' || saveState.state === 'error') return `${k}: ${saveState.state}`;
    if (!(await branchesIn(disk))[branch]?.startsWith(shown(engine))) return `${k}: not shown`;
    return torn.length > 0 ? `${k}: torn` : '';
  }

  test.each(ALL)(
    'is what was written, though nothing of it can be read: %s, %s before it, %s',
    async (...story) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const wrong: string[] = [];
      for (let k = 1, last: string | undefined = ''; last !== undefined; k += 1) {
        last = await wrongAt(k, story);
        if (last) wrong.push(last);
      }
      expect(wrong).toEqual([]);
    },
  );
});

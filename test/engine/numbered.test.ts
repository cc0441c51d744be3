import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
import { isContextError } from '../../src/errors.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { campaign, patience, tryAll } from '../support/campaign.ts';
import { branchesIn, engineOn, said, texts } from '../support/engine.ts';
import { type RefusingStore, refusing } from '../support/refusal.ts';

// An app numbers its messages, and each of its tabs begins with 1. So tabs say different things under one id, while their
// disks are full now and then. No word may be lost that a tab has taken, and none may be shown under another question.

interface Step {
  readonly does: 'ask' | 'ask in vain' | 'edit' | 'fill' | 'fill late' | 'empty' | 'retry' | 'wait';
  readonly tab: number;
  /** Which of the messages shown is edited; of what is asked, whether the answer has a number, too. */
  readonly pick: number;
  /** Whether all that is on its way arrives before the next step. */
  readonly rests: boolean;
}

interface Tab {
  readonly engine: ContextEngine;
  readonly disk: RefusingStore;
  last: number;
}

const step = fc.record<Step>({
  does: fc.oneof(
    { weight: 4, arbitrary: fc.constant('ask' as const) },
    fc.constantFrom('ask in vain', 'edit', 'fill', 'fill late', 'empty', 'retry', 'wait'),
  ),
  tab: fc.nat({ max: 2 }),
  pick: fc.nat({ max: 7 }),
  rests: fc.boolean(),
});

const rest = () => new Promise((resolve) => setTimeout(resolve));

class World {
  readonly inner = new InMemoryContextStore();
  readonly tabs: readonly Tab[] = [0, 1, 2].map(() => {
    const disk = refusing(this.inner);
    return { engine: engineOn(disk.store), disk, last: 0 };
  });
  /** The words that a tab has taken. */
  readonly taken: string[] = [];
  #words = 0;

  async play(steps: readonly Step[]): Promise<void> {
    // Two people never send within the same millisecond.
    let now = 1_700_000_000_000;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => (now += 1));
    try {
      await Promise.all(this.tabs.map(({ engine }) => engine.ready()));
      for (const one of steps) {
        await this.#do(one, this.tabs[one.tab] as Tab);
        if (one.rests) await rest();
      }
      for (const { disk } of this.tabs) disk.refuse(undefined);
      for (const { engine } of this.tabs) await engine.retry();
      await rest();
      await this.#examine();
    } finally {
      clock.mockRestore();
      for (const { engine } of this.tabs) engine.dispose();
    }
  }

  async #do({ does, pick }: Step, tab: Tab): Promise<void> {
    const { engine, disk } = tab;
    if (does === 'ask' || does === 'ask in vain') return this.#ask(tab, pick, does === 'ask');
    if (does === 'fill' || does === 'fill late')
      return disk.refuse('quota-exceeded', { late: does === 'fill late' });
    if (does === 'empty') return disk.refuse(undefined);
    if (does === 'retry') return void (await this.#takes(engine.retry()));
    if (does === 'wait') return void (await rest());
    const { messages } = engine.state.getState();
    const message = messages[pick % messages.length];
    const words = `e${(this.#words += 1)}`;
    if (message && (await this.#takes(engine.edit(message.id, words)))) this.taken.push(words);
  }

  async #ask(tab: Tab, pick: number, isAnswered: boolean): Promise<void> {
    const { engine } = tab;
    const n = (this.#words += 1);
    const id = `m${(tab.last += 1)}`;
    const answerId = pick < 4 ? `m${(tab.last += 1)}` : `a${n}`;
    if (!(await this.#takes(engine.continue({ ...said(`q${n}`), id }, { id: answerId })))) return;
    this.taken.push(`q${n}`);
    const answer = { ...said(`a${n}`), id: answerId };
    const end = isAnswered
      ? engine.updateMessage(answerId, answer, 'complete')
      : engine.updateMessage(answerId, { ...answer, parts: [] }, 'interrupted');
    if ((await this.#takes(end)) && isAnswered) this.taken.push(`a${n}`);
  }

  /** Whether a tab took what was asked of it; what it refuses, it says. */
  async #takes(deed: Promise<unknown>): Promise<boolean> {
    try {
      await deed;
      return true;
    } catch (error) {
      if (!isContextError(error)) throw error;
      return false;
    }
  }

  async #examine(): Promise<void> {
    const branches = await branchesIn(this.inner);
    const chains = Object.values(branches).map((words) => words.split(' > '));
    const found = new Set(chains.flat());
    expect(this.taken.filter((words) => !found.has(words))).toEqual([]);
    for (const chain of chains)
      for (const [at, words] of chain.entries())
        // An answer stands behind its question, or another version of that.
        if (words.startsWith('a')) expect(chain[at - 1]).toMatch(new RegExp(`^(q${words.slice(1)}|e\\d+)$`));
    for (const { engine } of this.tabs) {
      const { saveState, messages, branches: shown, branchId } = engine.state.getState();
      expect(['saved', 'idle']).toContain(saveState.state);
      const name = shown.find(({ id }) => id === branchId)?.name ?? '';
      expect(spoken(texts(messages))).toBe(spoken(branches[name] ?? ''));
    }
    expect(await engineOn(this.inner).verify()).toEqual([]);
  }
}

/** Without the answers that never said anything. */
const spoken = (words: string) => words.split(' > ').filter(Boolean).join(' > ');

describe('tabs of an app that numbers its messages', () => {
  it('lose no word, whatever their disks do', { timeout: patience }, async () => {
    expect.hasAssertions();
    const stories = fc.array(step, { minLength: 4, maxLength: 18 });
    await tryAll(stories, (steps) => new World().play(steps), campaign(400));
  });

  it('do not hang a question on an answer that was taken back, and whose id another tab has by now', async () => {
    const [first, other] = [1, 2];
    const ask = { pick: 0, rests: true, does: 'ask' } as const;
    await new World().play([
      { ...ask, tab: first, pick: 4 },
      { ...ask, tab: other, does: 'fill' },
      { ...ask, tab: other, does: 'ask in vain' },
      { ...ask, tab: first },
      { ...ask, tab: other, pick: 4 },
    ]);
  });
});

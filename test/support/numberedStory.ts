import fc from 'fast-check';
import { expect, vi } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
import { isContextError } from '../../src/errors.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { branchesIn, engineOn, said, texts } from './engine.ts';
import { type RefusingStore, refusing } from './refusal.ts';

/**
 * What happens in three tabs of an app that numbers its messages, each of them from 1. So tabs say different things under one
 * id, while their disks are full now and then. No word may be lost that a tab has taken, no answer be shown behind another
 * question, and each tab must show at last what is on the disk.
 */
export interface Step {
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

const aStep = fc.record<Step>({
  does: fc.oneof(
    { weight: 4, arbitrary: fc.constant('ask' as const) },
    fc.constantFrom('ask in vain', 'edit', 'fill', 'fill late', 'empty', 'retry', 'wait'),
  ),
  tab: fc.nat({ max: 2 }),
  pick: fc.nat({ max: 7 }),
  rests: fc.boolean(),
});

/** Stories of 4 to 18 steps. */
export const stories: fc.Arbitrary<Step[]> = fc.array(aStep, { minLength: 4, maxLength: 18 });

/** Plays a story, and examines what it leads to. */
export async function playNumbered(steps: readonly Step[]): Promise<void> {
  expect(await new World().play(steps)).toEqual([]);
}

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

  async play(steps: readonly Step[]): Promise<string[]> {
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
      return await this.#examine();
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

  /** What is not as it should be. */
  async #examine(): Promise<string[]> {
    const branches = await branchesIn(this.inner);
    const chains = Object.values(branches).map((words) => words.split(' > '));
    const found = new Set(chains.flat());
    const wrong = this.taken.flatMap((words) => (found.has(words) ? [] : `${words} is lost`));
    for (const chain of chains)
      for (const [at, words] of chain.entries()) {
        // An answer stands behind its question, or another version of that.
        const questions = new RegExp(`^(q${words.slice(1)}|e\\d+)$`);
        if (words.startsWith('a') && !questions.test(chain[at - 1] ?? ''))
          wrong.push(`${words} stands behind ${chain[at - 1]}`);
      }
    for (const { engine } of this.tabs) {
      const { saveState, messages, branches: shown, branchId } = engine.state.getState();
      const name = shown.find(({ id }) => id === branchId)?.name ?? '';
      const [seen, stored] = [spoken(texts(messages)), spoken(branches[name] ?? '')];
      if (seen !== stored) wrong.push(`a tab shows ${seen} of ${name}: ${stored}`);
      if (saveState.state === 'error') wrong.push(`a tab says ${saveState.error?.code}`);
    }
    const findings = await engineOn(this.inner).verify();
    return [...wrong, ...findings.map((finding) => JSON.stringify(finding))];
  }
}

/** Without the answers that never said anything. */
const spoken = (words: string) => words.split(' > ').filter(Boolean).join(' > ');

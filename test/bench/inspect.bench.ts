import type { UIMessage } from 'ai';
import { ContextEngine, hint, IndexedDBContextStore, role } from 'contextree/core';
import { expect, test } from 'vitest';
import { writeLine } from './line.ts';

/**
 * What a second look costs, on a real IndexedDB: each engine is new, and inspects a chat of 10,000 messages of about
 * 1 kB, whose answers tell their usage, again, and again after one new turn, and so for its estimate. `npm run bench`
 * runs it; figures are ratios within one run.
 */
const LENGTH = 10_000;
const WORDS =
  'The quick brown fox jumps over the lazy dog while the graph remembers every word it said. '.repeat(11);

test(
  'a second inspect() of 10,000 messages costs what changed',
  { timeout: 300_000 },
  async ({ onTestFinished }) => {
    const store = await chatOf(LENGTH);
    const times: Record<'first' | 'second' | 'afterTurn' | 'estimate', number[]> = {
      first: [],
      second: [],
      afterTurn: [],
      estimate: [],
    };
    for (let round = 0; round < 3; round += 1) {
      const engine = new ContextEngine({ store, chatId: 'c', userId: 'u' });
      engine.set(role('You are a patient tutor.'), hint('Answer in plain words.'));
      onTestFinished(() => engine.dispose());
      await engine.ready();
      const look = (): Promise<unknown> => engine.inspect({ modelId: 'openai:gpt-4o' });
      times.first.push(await timed(look));
      for (let i = 0; i < 5; i += 1) {
        times.second.push(await timed(look));
        await turn(engine);
        times.afterTurn.push(await timed(look));
        await turn(engine);
        times.estimate.push(await timed(() => engine.estimate('openai:gpt-4o')));
      }
    }
    const [first, second] = [median(times.first), median(times.second)];
    const [afterTurn, estimate] = [median(times.afterTurn), median(times.estimate)];
    report('first inspect() of 10,000 messages against a second one', first, second);
    report('first inspect() of 10,000 messages against one after a turn', first, afterTurn);
    report('first inspect() of 10,000 messages against estimate() after a turn', first, estimate);
    expect(first / second).toBeGreaterThanOrEqual(20);
    expect(first / afterTurn).toBeGreaterThanOrEqual(20);
    expect(first / estimate).toBeGreaterThanOrEqual(20);
  },
);

async function turn(engine: ContextEngine): Promise<void> {
  const id = await engine.ask(message(crypto.randomUUID(), 0));
  await engine.updateMessage(id, message(id, 1), 'complete');
}

function message(id: string, i: number): UIMessage {
  const parts: UIMessage['parts'] = [{ type: 'text', text: `${i} ${WORDS}` }];
  if (i % 2 === 0) return { id, role: 'user', parts };
  return { id, role: 'assistant', parts, metadata: { usage: { inputTokens: 900, outputTokens: 240 } } };
}

async function chatOf(length: number): Promise<IndexedDBContextStore> {
  const store = new IndexedDBContextStore(`bench-${crypto.randomUUID()}`);
  const messages = Array.from({ length }, (_, i) => message(`m${i}`, i));
  await writeLine(store, messages);
  return store;
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[times.length >> 1] as number;

function report(what: string, a: number, b: number): void {
  console.log(`| ${what} | ${(a / b).toFixed(1)}x | ${a.toFixed(1)} ms / ${b.toFixed(2)} ms |`);
}

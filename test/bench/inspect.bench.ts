import type { UIMessage } from 'ai';
import { ContextEngine, hint, IndexedDBContextStore, role } from 'contextree/core';
import { expect, test } from 'vitest';
import { writeLine } from './line.ts';
import { median, messageAt, report, timed } from './measure.ts';

/**
 * What a second look costs, on a real IndexedDB: each engine is new, and inspects a chat of 10,000 messages of about
 * 1 kB, whose answers tell their usage, again, and again after one new turn, and so for its estimate. `npm run bench`
 * runs it; figures are ratios within one run.
 */
const LENGTH = 10_000;

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
    for (const [what, ms] of [
      ['a second one', second],
      ['one after a turn', afterTurn],
      ['estimate() after a turn', estimate],
    ] as const) {
      const figures = `${first.toFixed(1)} ms / ${ms.toFixed(2)} ms`;
      report(`first inspect() of 10,000 messages against ${what}`, first / ms, figures);
      expect(first / ms).toBeGreaterThanOrEqual(20);
    }
  },
);

async function turn(engine: ContextEngine): Promise<void> {
  const id = await engine.ask(message(crypto.randomUUID(), 0));
  await engine.updateMessage(id, message(id, 1), 'complete');
}

function message(id: string, i: number): UIMessage {
  const said = messageAt(i, id);
  return i % 2 === 0 ? said : { ...said, metadata: { usage: { inputTokens: 900, outputTokens: 240 } } };
}

async function chatOf(length: number): Promise<IndexedDBContextStore> {
  const store = new IndexedDBContextStore(`bench-${crypto.randomUUID()}`);
  const messages = Array.from({ length }, (_, i) => message(`m${i}`, i));
  await writeLine(store, messages);
  return store;
}

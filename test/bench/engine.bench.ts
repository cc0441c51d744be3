import { ContextEngine, IndexedDBContextStore, role } from 'contextree/core';
import { expect, test } from 'vitest';
import { writeLine } from './line.ts';
import { listOf, median, messageAt, report, timed } from './measure.ts';

/**
 * What a turn costs in a long chat, on a real IndexedDB. Figures are ratios within one run: both sides are measured
 * in turns, so that a busy machine slows both. `npm run bench` runs them; RESULTS.md keeps the last figures.
 */

/** A chat of `length` messages of about 1 kB in a row, and an engine on it. */
async function chatOf(length: number): Promise<{ store: IndexedDBContextStore; open: () => ContextEngine }> {
  const store = new IndexedDBContextStore(`bench-${crypto.randomUUID()}`);
  const open = (): ContextEngine =>
    new ContextEngine({ store, chatId: 'c', userId: 'u' }).set(role('You are a patient tutor.'));
  await writeLine(store, listOf(length));
  return { store, open };
}

function turn(engine: ContextEngine): () => Promise<unknown> {
  let i = 0;
  return async () => {
    const id = await engine.ask(messageAt(0, crypto.randomUUID()));
    i += 1;
    await engine.updateMessage(id, messageAt(2 * i + 1, id), 'complete');
  };
}

test('a turn at 10,000 messages costs at most 1.5 times a turn at 100', { timeout: 300_000 }, async () => {
  const [short, long] = [await chatOf(100), await chatOf(10_000)];
  const [inShort, inLong] = [turn(short.open()), turn(long.open())];
  const times: { short: number[]; long: number[] } = { short: [], long: [] };
  for (let round = 0; round < 160; round += 1) {
    const [a, b] = [await timed(inShort), await timed(inLong)];
    if (round < 10) continue;
    times.short.push(a);
    times.long.push(b);
  }
  const ratio = median(times.long) / median(times.short);
  report(
    'append of one turn, 10,000 against 100 messages',
    ratio,
    `${median(times.long).toFixed(2)} ms / ${median(times.short).toFixed(2)} ms`,
  );
  expect(ratio).toBeLessThanOrEqual(1.5);
});

test(
  'resolve() after one new turn is at least 100 times faster than the first one',
  { timeout: 300_000 },
  async () => {
    const { open } = await chatOf(10_000);
    const first: number[] = [];
    const warm: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const engine = open();
      first.push(await timed(() => engine.resolve()));
      for (let i = 0; i < 5; i += 1) {
        await turn(engine)();
        warm.push(await timed(() => engine.resolve()));
      }
      engine.dispose();
    }
    const ratio = median(first) / median(warm);
    report(
      'first resolve() of 10,000 messages against a warm one after a turn',
      ratio,
      `${median(first).toFixed(1)} ms / ${median(warm).toFixed(3)} ms`,
    );
    expect(ratio).toBeGreaterThanOrEqual(100);
  },
);

import { describe, expect, it } from 'vitest';
import type { CallFacts } from '../../src/engine/calls.ts';
import { openPage, type Page } from './story.ts';

/** The facts of the requests behind the last answer. */
function callsOf({ engine, chats }: Page): readonly CallFacts[] {
  return engine.calls(chats.active.messages.at(-1)?.id ?? '');
}

/** Asks, and stops the answer behind its first words. */
async function stopHalfway({ chats, script }: Page): Promise<void> {
  const stopped = chats.active.sendMessage({ text: 'One?' });
  await (await script.next()).say('Half a');
  await chats.active.stop();
  await stopped;
  await chats.whenSettled();
}

describe('the facts of each request', () => {
  it('tell when it was sent, when the first word came, how long it took, and what its server told', async () => {
    const page = await openPage();
    const begun = Date.now();
    const exchange = await page.begin('One?', 'A ', 'word.');
    await exchange.finish({ modelId: 'openai:gpt-4o', usage: { inputTokens: 7, outputTokens: 2 } });
    await page.chats.whenSettled();
    const [call, ...others] = callsOf(page);
    expect(others).toEqual([]);
    const usage = { input: 7, output: 2 };
    expect(call).toMatchObject({ status: 'complete', steps: 1, model: 'openai:gpt-4o', usage });
    expect(call?.startedAt).toBeGreaterThanOrEqual(begun);
    expect(call?.firstMs).toBeLessThanOrEqual(call?.ms ?? 0);
  });

  it('know what was stopped from what failed', async () => {
    const page = await openPage();
    await stopHalfway(page);
    expect(callsOf(page)).toMatchObject([{ status: 'stopped' }]);

    for (const end of ['fail', 'drop'] as const) {
      const exchange = await page.begin('And?', 'Half a');
      if (end === 'fail') await exchange.fail('Overloaded.');
      await exchange.drop();
      await page.chats.whenSettled();
      expect(callsOf(page)).toMatchObject([{ status: 'failed' }]);
    }
  });

  it('are two for an answer that went on', async () => {
    const page = await openPage();
    await stopHalfway(page);
    await page.script.answer(page.chats.active.sendMessage(), ' sentence.');
    await page.chats.whenSettled();
    expect(callsOf(page).map(({ status }) => status)).toEqual(['stopped', 'complete']);
  });
});

import { tool, type UIMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { hint } from '../../src/fragment/builders.ts';
import type { RunOptions } from '../../src/engine/options.ts';
import type { ContextEngine } from '../../src/engine/engine.ts';
import { createLocalTransport } from '../../src/ai/local.ts';
import { openPlainly } from '../ai/story.ts';
import { said } from '../support/engine.ts';
import { Provider, recordedPage, textOf } from './provider.ts';

async function run(engine: ContextEngine, options: RunOptions): Promise<UIMessage | undefined> {
  let last: UIMessage | undefined;
  for await (const message of await engine.attached!.run!(options)) last = message;
  return last;
}

describe('a run', () => {
  it('asks with other fragments and other words, and saves nothing', async () => {
    const page = await openPlainly();
    page.engine.set(hint('Be brief.'));
    await page.ask('One?', 'Yes.');
    await page.ask('Two?', 'No.');
    const before = page.engine.graph();
    const [question, answer] = page.engine.state.getState().messages;
    const running = run(page.engine, {
      at: answer!.id,
      fragments: [hint('Be long.')],
      message: 'Uno?',
      body: { model: 'other' },
    });
    const exchange = await page.script.next();
    await exchange.answer('Si,', ' claro.');
    expect(textOf(await running)).toBe('Si, claro.');
    const { messages, body, metadata } = exchange.sent;
    expect(body).toEqual({ model: 'other', system: '<hint>Be long.</hint>' });
    expect(messages.map(textOf)).toEqual(['Uno?']);
    expect(messages[0]!.id).toBe(question!.id);
    expect((metadata as { contextree: object }).contextree).toMatchObject({ dryRun: true });
    expect(page.engine.graph()).toEqual(before);
    expect(page.shown()).toBe('q: One? | a: Yes. | q: Two? | a: No.');
  });

  it('runs no tool in the browser: it stops at the call', async () => {
    const provider = new Provider();
    provider.answers = ['call dice'];
    let rolled = 0;
    const dice = tool({ inputSchema: z.object({}), execute: () => (rolled += 1) });
    const page = await openPlainly(undefined, {
      transport: createLocalTransport({ model: provider.model(), tools: { dice } }),
    });
    await page.engine.add([said('q1', 'Roll.')], { parentId: null });
    expect(page.engine.attached!.runsDry).toBe(true);
    const answer = await run(page.engine, { at: 'q1' });
    expect(answer!.parts.at(-1)).toMatchObject({ type: 'tool-dice', state: 'input-available' });
    expect(rolled).toBe(0);
  });

  it('says that a transport over HTTP can not promise that', async () => {
    const page = await openPlainly();
    expect(page.engine.attached!.runsDry).toBe(false);
  });

  it('fails as its transport does, and for a message that is no question', async () => {
    const { engine, say } = await recordedPage(new Provider());
    await say('One?');
    await expect(run(engine, { at: 'nobody' })).rejects.toMatchObject({ code: 'message-not-found' });
    const page = await openPlainly();
    await page.ask('One?', 'Yes.');
    page.script.refuse(new Error('no network'));
    const at = page.engine.state.getState().messages[0]!.id;
    await expect(run(page.engine, { at })).rejects.toThrow('no network');
  });
});

describe('add()', () => {
  it('keeps an answer as a branch of its own, with what it was made from, and shows what was shown', async () => {
    const page = await openPlainly();
    await page.ask('One?', 'Yes.');
    const [question, answer] = page.engine.state.getState().messages;
    const branch = await page.engine.add([said('a9')], { parentId: question!.id, sources: [answer!.id] });
    expect(branch).toMatchObject({ name: 'main-v2', headMessageId: 'a9', isActive: false });
    expect(page.shown()).toBe('q: One? | a: Yes.');
    expect(page.engine.siblings('a9').ids).toEqual([answer!.id, 'a9']);
    expect(page.engine.node('a9')).toMatchObject({
      status: 'complete',
      sources: [page.engine.node(answer!.id)!.key],
    });
    expect(await page.stored('main-v2')).toBe('q: One? | a: a9');
  });

  it('goes on with a branch that ends there, and refuses one that does not', async () => {
    const page = await openPlainly();
    await page.ask('One?', 'Yes.');
    const [question, answer] = page.engine.state.getState().messages;
    await page.engine.add([said('q2'), said('a2')], { parentId: answer!.id, branch: 'main' });
    expect(await page.stored()).toBe('q: One? | a: Yes. | q: q2 | a: a2');
    await expect(
      page.engine.add([said('a9')], { parentId: question!.id, branch: 'main' }),
    ).rejects.toMatchObject({ code: 'invalid-options' });
  });

  it('begins a chat', async () => {
    const page = await openPlainly();
    const branch = await page.engine.add([said('q1'), said('a1')], { parentId: null });
    expect(branch).toMatchObject({ name: 'main', messageCount: 2, isActive: true });
    expect(page.engine.state.getState().messages.map(({ id }) => id)).toEqual(['q1', 'a1']);
  });

  it('refuses nothing, and what is no message', async () => {
    const { engine } = await openPlainly();
    await expect(engine.add([], { parentId: null })).rejects.toMatchObject({ code: 'invalid-options' });
    await expect(engine.add([{} as never], { parentId: null })).rejects.toMatchObject({
      code: 'invalid-messages',
    });
    const nowhere = engine.add([said('a1')], { parentId: 'nobody' });
    await expect(nowhere).rejects.toMatchObject({ code: 'message-not-found' });
  });
});

import { describe, expect, it } from 'vitest';
import { markId } from '../../src/graph/marks.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { engineOn, said, say, texts } from '../support/engine.ts';

const call = { startedAt: 1000, firstMs: 20, ms: 300, steps: 1, status: 'complete' } as const;
const told = { modelId: 'openai:gpt-4o', usage: { inputTokens: 1000, outputTokens: 100 } };

describe('the facts of a request', () => {
  it('are told with the end of an answer, and found again after a reload', async () => {
    const store = new InMemoryContextStore();
    const engine = engineOn(store);
    const id = await engine.ask(said('q1'), { id: 'a1' });
    expect(engine.calls(id)).toEqual([]);
    await engine.updateMessage(id, { ...said('a1'), metadata: told }, 'complete', call);
    const known = [{ ...call, model: 'openai:gpt-4o', usage: { input: 1000, output: 100 } }];
    expect(engine.calls('a1')).toEqual(known);
    const later = engineOn(store);
    expect(later.calls('a1')).toEqual([]);
    await later.ready();
    expect(later.calls('a1')).toEqual(known);
    expect(later.calls('nobody')).toEqual([]);
  });

  it('stay small, whatever the model is called', async () => {
    const store = new InMemoryContextStore();
    const engine = engineOn(store);
    const id = await engine.ask(said('q1'), { id: 'a1' });
    const usage = { inputTokens: 1e6, outputTokens: 1e5, cachedInputTokens: 1e6, reasoningTokens: 1e5 };
    const metadata = { usage, modelId: 'm'.repeat(500) };
    await engine.updateMessage(id, { ...said('a1'), metadata }, 'complete', call);
    const { key = '' } = engine.node('a1') ?? {};
    const mark = (await store.load('c')).marks.find((one) => one.id === markId.calls(key));
    expect(JSON.stringify(mark?.value).length).toBeLessThanOrEqual(250);
  });

  it('are those of each request of an answer that went on', async () => {
    const engine = engineOn();
    const id = await engine.ask(said('q1'), { id: 'a1' });
    await engine.updateMessage(id, said('a1'), 'interrupted', { ...call, status: 'stopped' });
    await engine.updateMessage('a1', said('a1', 'more'), 'streaming');
    await engine.updateMessage('a1', said('a1', 'more'), 'complete', call);
    expect(engine.calls('a1').map(({ status }) => status)).toEqual(['stopped', 'complete']);
  });

  it('of an answer that never said a word go with it', async () => {
    const engine = engineOn();
    const id = await engine.ask(said('q1'), { id: 'a1' });
    await engine.updateMessage(id, { id, role: 'assistant', parts: [] }, 'interrupted', call);
    expect(engine.calls(id)).toEqual([]);
  });
});

it('what a message said before it was changed is there, drafts apart', async () => {
  const engine = engineOn();
  const id = await engine.ask(said('q1'), { id: 'a1' });
  await engine.updateMessage(id, said(id, 'draft'), 'streaming');
  await engine.updateMessage(id, said(id, 'first'), 'complete');
  await engine.updateMessage(id, said(id, 'second'));
  expect(texts((await engine.revisions(id)).map(({ message }) => message))).toBe('first');
  await expect(engine.revisions('nobody')).rejects.toMatchObject({ code: 'message-not-found' });
});

describe('compare', () => {
  const pairs = async (engine: ReturnType<typeof engineOn>, a: string, b: string): Promise<string> =>
    (await engine.compare(a, b)).turns
      .map((turn) => `${turn.a?.id ?? ''}${turn.isSame ? '=' : '/'}${turn.b?.id ?? ''}`)
      .join(' ');

  it('takes branches by name and messages by id, from the last one that both have', async () => {
    const engine = engineOn();
    await say(engine, 'q1', 'a1', 'q2', 'a2');
    await engine.rewind('a1');
    await say(engine, 'q3', 'a3', 'q4');
    const { ancestorId } = await engine.compare('main', 'main-v2');
    expect(ancestorId).toBe('a1');
    expect(await pairs(engine, 'main', 'main-v2')).toBe('q2/q3 a2/a3 /q4');
    expect(await pairs(engine, 'a2', 'a3')).toBe('q2/q3 a2/a3');
    expect(await pairs(engine, 'a1', 'a3')).toBe('/q3 /a3');
    await expect(engine.compare('main', 'nobody')).rejects.toMatchObject({ code: 'message-not-found' });
  });

  it('knows the same words under other ids, and whatever a provider numbered', async () => {
    const engine = engineOn();
    const answer = (id: string, toolCallId: string) => ({
      id,
      role: 'assistant' as const,
      parts: [
        { type: 'step-start' as const },
        {
          type: 'dynamic-tool' as const,
          toolName: 'dice',
          toolCallId,
          state: 'output-available' as const,
          input: {},
          output: 6,
        },
        { type: 'text' as const, text: 'Six.', state: 'done' as const },
      ],
    });
    await say(engine, 'q1', 'a1');
    await engine.updateMessage('a1', answer('a1', 'call-1'));
    await engine.rewind('q1');
    await say(engine, 'a2');
    await engine.updateMessage('a2', { ...answer('a2', 'call-2'), metadata: { at: 1 } });
    expect(await pairs(engine, 'a1', 'a2')).toBe('a1=a2');
  });

  it('reads what is not loaded, and sums up what each side took', async () => {
    const store = new InMemoryContextStore();
    const before = engineOn(store);
    for (const id of ['one', 'two']) {
      const reserved = await before.ask(said('q1', 'Why?'), { parentId: null, id: `a-${id}` });
      const words = { ...said(`a-${id}`, `${id} words of it`), metadata: told };
      await before.updateMessage(reserved, words, 'complete', { ...call, ms: id === 'one' ? 100 : 250 });
    }
    const engine = engineOn(store);
    const { totals, turns, ancestorKey } = await engine.compare('a-one', 'a-two');
    expect(ancestorKey).toBe(engine.node('q1')?.key);
    expect(turns.map(({ a }) => a?.message?.parts[0])).toMatchObject([{ text: 'one words of it' }]);
    expect(totals.a).toMatchObject({ messages: 1, input: 1000, output: 100, ms: 100 });
    expect(totals.a.cost).toBeCloseTo(0.0035, 6);
    expect(totals.b.ms).toBe(250);
    expect(totals.b.tokens).toBeGreaterThan(2);
  });

  it('says that nobody told what it took', async () => {
    const engine = engineOn();
    await say(engine, 'q1', 'a1');
    const { totals, turns } = await engine.compare('q1', 'a1');
    expect(totals.b).toMatchObject({ input: null, output: null, cost: null, ms: null });
    expect(turns).toHaveLength(1);
    expect(totals.a).toMatchObject({ messages: 0, tokens: 0 });
  });
});

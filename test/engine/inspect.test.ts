import { describe, expect, test } from 'vitest';
import { hint, role } from '../../src/fragment/builders.ts';
import { fragment } from '../../src/fragment/fragment.ts';
import { assistant, lastAssistantMessage, user } from '../../src/fragment/message.ts';
import { MarkdownRenderer } from '../../src/render/markdown.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { engineOn, said, say, texts } from '../support/engine.ts';

async function chat(...words: readonly string[]) {
  const engine = engineOn(new InMemoryContextStore());
  if (words.length > 0) await say(engine, ...words);
  return engine;
}

describe('inspect()', () => {
  test('tells prompt, fragments, messages, graph and where one is', async () => {
    const engine = await chat('q1', 'a1');
    engine.set({ ...hint('Be brief.'), id: 'brief' });
    await engine.checkpoint('here');
    const snapshot = await engine.inspect({ modelId: 'openai:gpt-4o' });
    expect(snapshot).toMatchObject({
      estimate: {
        provider: 'openai',
        model: 'gpt-4o',
        cost: null,
        limits: { context: null, output: null, exceedsContext: false },
        fragments: [{ id: 'brief', name: 'hint', cost: null }],
      },
      rendered: '<hint>Be brief.</hint>',
      fragments: {
        context: [{ id: 'brief', name: 'hint', data: 'Be brief.' }],
        pending: [],
        persisted: [said('q1'), said('a1')],
      },
      graph: {
        chatId: 'c',
        nodes: [{ id: 'q1' }, { id: 'a1' }],
        branches: [{ name: 'main', headMessageId: 'a1', isActive: true }],
        checkpoints: [{ name: 'here', messageId: 'a1' }],
      },
      meta: { chatId: 'c', branch: 'main', timestamp: expect.any(Number) },
    });
    expect(snapshot.estimate.tokens).toBeGreaterThan(snapshot.estimate.fragments[0]?.tokens ?? 0);
  });

  test('works without a model, in an empty chat and for ids without a provider', async () => {
    const engine = await chat();
    expect(await engine.inspect()).toMatchObject({
      estimate: { provider: '', model: '', tokens: 0 },
      fragments: { persisted: [] },
    });
    expect((await engine.inspect({ modelId: 'llama' })).estimate).toMatchObject({
      provider: '',
      model: 'llama',
    });
    expect((await engine.inspect({ modelId: 'openrouter:meta/llama:free' })).estimate).toMatchObject({
      provider: 'openrouter',
      model: 'meta/llama:free',
    });
  });

  test('survives JSON with everything that it says', async () => {
    const engine = await chat('q1');
    engine.set(
      role(() => 'computed'),
      fragment('data', { list: [1, { deep: true }], later: Promise.resolve('soon'), inner: hint('inside') }),
      user(said('q2', 'not saved yet')),
      lastAssistantMessage('corrected'),
    );
    const snapshot = await engine.inspect();
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
    expect(snapshot.fragments.context[0]).toEqual({ name: 'role', data: '[lazy]' });
    expect(snapshot.fragments.context[1]?.data).toMatchObject([
      { list: [1, { deep: true }], later: '[lazy]', inner: { name: 'hint', data: 'inside' } },
    ]);
    expect(snapshot.rendered).toContain('computed');
  });

  test('keeps the content of what is pending, apart from what is saved', async () => {
    const engine = await chat('q1', 'a1');
    engine.set(user(said('q2', 'not saved yet')), lastAssistantMessage('corrected'));
    const { fragments } = await engine.inspect();
    expect(texts(fragments.pending)).toBe('not saved yet > corrected');
    expect(texts(fragments.persisted)).toBe('q1 > a1');
    expect(texts((await engine.resolve()).messages)).toBe('q1 > corrected > not saved yet');
  });

  test('tells what is saved also while a new version of it waits', async () => {
    const engine = await chat('q1', 'a1', 'q2');
    engine.set(assistant(said('a1', 'better')));
    expect(texts((await engine.inspect()).fragments.persisted)).toBe('q1 > a1 > q2');
  });

  test('looks at any message, without what is pending', async () => {
    const engine = await chat('q1', 'a1', 'q2', 'a2');
    await engine.rewind('q1');
    engine.set(user(said('q7')));
    const { fragments, meta } = await engine.inspect({ at: 'a1' });
    expect([texts(fragments.persisted), fragments.pending, meta.branch]).toEqual(['q1 > a1', [], 'main-v2']);
    await expect(engine.inspect({ at: 'zzz' })).rejects.toMatchObject({ code: 'message-not-found' });
  });

  test('renders as it is asked to', async () => {
    const engine = await chat();
    engine.set(hint('Be brief.'));
    expect((await engine.inspect({ renderer: new MarkdownRenderer() })).rendered).toBe('## Hint\nBe brief.');
  });

  test('writes nothing', async () => {
    const store = new InMemoryContextStore();
    await engineOn(store).inspect();
    expect(await store.listChats()).toEqual([]);
  });
});

import { describe, expect, test } from 'vitest';
import { estimate } from '../../src/engine/estimate.ts';
import { hint, role } from '../../src/fragment/builders.ts';
import { fragment } from '../../src/fragment/fragment.ts';
import { assistant, lastAssistantMessage, user } from '../../src/fragment/message.ts';
import { MarkdownRenderer } from '../../src/render/markdown.ts';
import type { XmlRenderer } from '../../src/render/xml.ts';
import { reminder } from '../../src/reminders.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { loadTokenizer } from '../../src/tokenizers/o200k.ts';
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
        asOf: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        limits: { context: 128_000, exceedsContext: false, left: expect.any(Number) },
        fragments: [{ id: 'brief', name: 'hint', cost: expect.any(Number), share: expect.any(Number) }],
        messages: [
          { id: 'q1', role: 'user' },
          { id: 'a1', role: 'assistant' },
        ],
      },
      rendered: '<hint>Be brief.</hint>',
      spans: [{ fragment: 0, start: 0, end: 22 }],
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
      estimate: { provider: '', model: '', tokens: 0, cost: null, asOf: null },
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
    expect(texts((await engine.resolve()).messages)).toBe('q1 > a1 > not saved yet > corrected');
  });

  test('looks at any message, without what is pending', async () => {
    const engine = await chat('q1', 'a1', 'q2', 'a2');
    await engine.rewind('q1');
    engine.set(user(said('q7')));
    const { fragments, meta } = await engine.inspect({ at: 'a1' });
    expect([texts(fragments.persisted), fragments.pending, meta.branch]).toEqual(['q1 > a1', [], 'main-v2']);
    await expect(engine.inspect({ at: 'zzz' })).rejects.toMatchObject({ code: 'message-not-found' });
  });

  test('looks at any branch, with what is pending only on the one it waits for', async () => {
    const engine = await chat('q1', 'a1');
    await engine.rewind('q1');
    engine.set(user(said('q7')));
    const elsewhere = await engine.inspect({ branch: 'main' });
    expect([
      texts(elsewhere.fragments.persisted),
      elsewhere.fragments.pending,
      elsewhere.meta.branch,
    ]).toEqual(['q1 > a1', [], 'main']);
    const here = await engine.inspect({ branch: 'main-v2' });
    expect([texts(here.fragments.persisted), texts(here.fragments.pending)]).toEqual(['q1', 'q7']);
    await expect(engine.inspect({ branch: 'nope' })).rejects.toMatchObject({ code: 'branch-not-found' });
  });

  test('estimates what resolve() would give, reminders and all', async () => {
    const engine = await chat('q1', 'a1');
    engine.set(role('You are a tutor.'), reminder('Think twice.'), user(said('q2')));
    const { systemPrompt, messages } = await engine.resolve();
    const { estimate, rendered, fragments } = await engine.inspect({ modelId: 'openai:gpt-4o' });
    expect(rendered).toBe(systemPrompt);
    expect(estimate.messages.map(({ id }) => id)).toEqual(messages.map(({ id }) => id));
    expect(estimate).toEqual(await engine.estimate('openai:gpt-4o', { messages }));
    expect(texts(messages)).toContain('Think twice.');
    expect(fragments.context[1]).toEqual({
      name: 'reminder',
      data: { type: 'reminder', text: 'Think twice.', asPart: false },
    });
  });

  test('survives a fragment that fails: it counts nothing, and the reason is given', async () => {
    const engine = await chat('q1');
    engine.set(
      hint('Be brief.'),
      fragment('weather', () => Promise.reject(new Error('it rains'))),
      fragment('amount', () => 10n),
    );
    const { estimate, rendered } = await engine.inspect();
    expect(rendered).toBe('<hint>Be brief.</hint>');
    expect(estimate.fragments).toMatchObject([
      { name: 'hint' },
      { name: 'weather', tokens: 0, problem: expect.stringContaining('it rains') },
      { name: 'amount', tokens: 0, problem: expect.stringContaining('bigint') },
    ]);
    expect(estimate.fragments[0]).not.toHaveProperty('problem');
  });

  test('stops loading when it is told to', async () => {
    const engine = (await chat()).set(hint(() => new Promise(() => undefined)));
    const control = new AbortController();
    const snapshot = engine.inspect({ signal: control.signal });
    control.abort();
    await expect(snapshot).rejects.toMatchObject({ code: 'aborted' });
  });

  test.each<[string, unknown, unknown]>([
    ['a day', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['no day', new Date(Number.NaN), 'Invalid Date'],
    ['a map', new Map([[1, 2]]), '[Map of 1]'],
    ['a set', new Set([1, 2]), '[Set of 2]'],
    ['bytes', new Uint8Array(3), '[Uint8Array of 3 bytes]'],
    ['a large number', 10n, '10'],
    ['no number', [Number.NaN, Infinity, -0], ['NaN', 'Infinity', 0]],
    ['a symbol', { sign: Symbol('s') }, { sign: 'Symbol(s)' }],
    ['holes', [, 1, undefined], [null, 1, null]], // oxlint-disable-line no-sparse-arrays
    ['an error', new TypeError('no'), '[TypeError: no]'],
    ['nothing', { gone: undefined, none: null }, { none: null }],
    ['a prototype', JSON.parse('{"__proto__": {"a": 1}}'), JSON.parse('{"__proto__": {"a": 1}}')],
    [
      'a getter that throws',
      Object.defineProperty({ a: 1 }, 'b', { enumerable: true, get: () => fail('not today') }),
      { a: 1, b: '[unreadable: not today]' },
    ],
    ['a circle', circle(), { name: 'circle', self: '[circular]' }],
    ['a function', { later: () => 1 }, { later: '[lazy]' }],
    ['a revoked proxy', revoked(), expect.stringContaining('[unreadable: ')],
  ])('shows %s in words that survive JSON', async (_, data, shown) => {
    const codec = { encode: () => data, decode: () => 'shown' };
    const engine = (await chat()).set({ name: 'odd', codec });
    const snapshot = await engine.inspect();
    expect(snapshot.fragments.context).toEqual([{ name: 'odd', data: shown }]);
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
  });

  test('shows what is nested 10,000 deep, or as wide as a table, up to a limit', async () => {
    let deep: unknown = 'bottom';
    for (let i = 0; i < 10_000; i++) deep = [deep];
    const wide = Array.from({ length: 300_000 }, (_, i) => i);
    const engine = await chat();
    engine.set({ name: 'odd', codec: { encode: () => [deep, wide], decode: () => 'shown' } });
    const snapshot = await engine.inspect();
    const json = JSON.stringify(snapshot);
    expect(JSON.parse(json)).toEqual(snapshot);
    expect(json).toContain('"[deeper]"');
    expect(json).toContain('"[more]"');
  });

  test('tells of characters that nobody sees, by fragment and by message', async () => {
    const engine = await chat('q1=Pay\u200bPal', 'a1=nothing');
    engine.set(hint('Be brief.'), { ...hint('x\u202excod.exe'), id: 'file' });
    const snapshot = await engine.inspect();
    const { systemPrompt, fragments, messages } = snapshot.estimate;
    const override = { code: 'U+202E', name: 'right-to-left override' };
    expect(fragments.map(({ hidden }) => hidden)).toEqual([undefined, [{ at: 7, ...override }]]);
    expect(systemPrompt.hidden).toEqual([{ at: snapshot.rendered.indexOf('\u202e'), ...override }]);
    expect(messages.map(({ hidden }) => hidden)).toEqual([
      [{ at: 3, code: 'U+200B', name: 'zero width space', part: 0 }],
      undefined,
    ]);
    expect(messages[1]).not.toHaveProperty('hidden');
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
    expect(snapshot.rendered).toContain('\u202e');
  });
});

function fail(reason: string): never {
  throw new Error(reason);
}

function circle(): object {
  const circle: Record<string, unknown> = { name: 'circle' };
  circle['self'] = circle;
  return circle;
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe('estimate()', () => {
  test('takes a model, a model with options, or options alone', async () => {
    const engine = (await chat('q1', 'a1')).set(hint('Be brief.'));
    const all = await engine.estimate('openai:gpt-4o');
    expect(all).toMatchObject({ model: 'gpt-4o', provider: 'openai', cost: expect.any(Number) });
    expect(await engine.estimate({ modelId: 'openai:gpt-4o' })).toEqual(all);
    expect((await engine.inspect({ modelId: 'openai:gpt-4o' })).estimate).toEqual(all);
    expect((await engine.estimate('openai:gpt-4o', { at: 'q1' })).messages).toHaveLength(1);
    expect((await engine.estimate('openai:gpt-4o', { reserve: 1_000 })).limits.left).toBe(
      (all.limits.left ?? 0) - 1_000,
    );
    expect((await engine.estimate({ renderer: new MarkdownRenderer() })).systemPrompt.tokens).not.toBe(
      all.systemPrompt.tokens,
    );
    expect(await engine.estimate()).toMatchObject({ model: '', cost: null, tokens: all.tokens });
  });

  test('counts by an exact tokenizer, also one that is still on its way', async () => {
    const engine = await chat('q1=Hello, world!');
    expect(await engine.estimate({ tokenizer: loadTokenizer() })).toMatchObject({
      tokens: 4,
      tokenizer: 'o200k',
      exact: true,
    });
  });

  test.each<[string, () => number, string]>([
    [
      'throws',
      () => {
        throw new TypeError('no rank');
      },
      'The tokenizer "odd" failed: no rank',
    ],
    [
      'counts no number',
      () => Number.NaN,
      'The tokenizer "odd" gave NaN for a text: count() gives its tokens.',
    ],
  ])('says so in words when a tokenizer %s, in a Worker as well', async (_what, count, message) => {
    const near = { name: 'odd', exact: false, count };
    const far = {
      name: 'odd',
      exact: true as const,
      dispose: () => {},
      count: async (texts: readonly string[]) => texts.map(count),
    };
    for (const tokenizer of [near, far]) {
      const engine = (await chat('q1')).set(hint('Be brief.'));
      await expect(engine.estimate({ tokenizer })).rejects.toMatchObject({
        code: 'invalid-options',
        message,
      });
      await expect(engine.inspect({ tokenizer })).rejects.toMatchObject({ code: 'invalid-options', message });
    }
  });

  test.each<[string, () => never, RegExp]>([
    [
      'throws at once',
      () => {
        throw new TypeError('no Worker');
      },
      /^The tokenizer "odd" failed: no Worker/,
    ],
    ['gives nothing', () => undefined as never, /^The tokenizer "odd" gave no list/],
  ])('says so in words when a tokenizer in a Worker %s', async (_what, count, message) => {
    const tokenizer = { name: 'odd', exact: true as const, dispose: () => {}, count };
    const refused = { code: 'invalid-options', message: expect.stringMatching(message) as string };
    await expect((await chat('q1')).estimate({ tokenizer })).rejects.toMatchObject(refused);
  });

  /** What is wrong with what an app asks, by what the refusal says. */
  const wrong: readonly (readonly [options: unknown, told: RegExp])[] = [
    ...[null, 7, 'gpt', []].map((options) => [options, /^The options must be/] as const),
    ...[null, {}, () => ({ count: () => 1 })].map(
      (tokenizer) => [{ tokenizer }, /tokenizer must be what/] as const,
    ),
    ...[{}, 'xml', MarkdownRenderer].map(
      (renderer) => [{ renderer }, /^The renderer .*new MarkdownRenderer\(\)/s] as const,
    ),
    [{ reserve: Number.NaN }, /^reserve must be a number of tokens, and is NaN/],
    [{ reserve: -1 }, /^reserve must be/],
    [{ modelId: 4 }, /^modelId must be a text like "openai:gpt-4o", and is 4/],
  ];

  test.each(wrong)('refuses options that mean nothing: %o', async (options, told) => {
    const refused = { code: 'invalid-options', message: expect.stringMatching(told) as string };
    const given = options as object;
    const engine = await chat('q1');
    await expect(engine.inspect(given)).rejects.toMatchObject(refused);
    if (typeof given !== 'object') return;
    await expect(engine.estimate(given)).rejects.toMatchObject(refused);
    if (given === null || !('renderer' in given)) return;
    const renderer = given.renderer as XmlRenderer;
    expect(() => engine.render(renderer)).toThrow(expect.objectContaining(refused));
    await expect(engine.resolve({ renderer })).rejects.toMatchObject(refused);
    await expect(estimate('a:b', renderer, hint('Be brief.'))).rejects.toMatchObject(refused);
  });

  test('is of another prompt on request, and sets nothing', async () => {
    const engine = (await chat('q1', 'a1')).set(hint('Be brief.'));
    const other = await engine.estimate({ fragments: [role('You are a tutor.')], messages: [said('q7')] });
    expect([other.fragments.map(({ name }) => name), other.messages.map(({ id }) => id)]).toEqual([
      ['role'],
      ['q7'],
    ]);
    expect(engine.render()).toBe('<hint>Be brief.</hint>');
  });

  test('tells what the chat has spent, and learns from it', async () => {
    const engine = await chat('q1');
    const answer = { ...said('a1', 'word '.repeat(300)), metadata: { usage: { outputTokens: 600 } } };
    engine.set(assistant(answer));
    await engine.save();
    const { calibration, tokens, counted, spent } = await engine.estimate('openai:gpt-4o');
    expect(calibration).toBeGreaterThan(1.5);
    expect(tokens).toBe(Math.round(counted * (calibration ?? 0)));
    expect(spent).toMatchObject({ of: 'messages', tokens: { output: 600 } });
    await engine.trackUsage({ inputTokens: 50, outputTokens: 700 });
    expect((await engine.estimate('openai:gpt-4o')).spent).toMatchObject({
      of: 'chat',
      tokens: { input: 50, output: 700 },
    });
  });
});

import type { UIMessage } from 'ai';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { estimate } from '../../src/engine/estimate.ts';
import { hint, role } from '../../src/fragment/builders.ts';
import { fragment } from '../../src/fragment/fragment.ts';
import { lastAssistantMessage, user } from '../../src/fragment/message.ts';
import { estimatePrompt, type EstimateInput } from '../../src/tokens/estimate.ts';
import { registerModel } from '../../src/tokens/models.ts';
import type { ModelInfo } from '../../src/tokens/prices.ts';
import { estimateTokens, type Tokenizer } from '../../src/tokens/tokenizer.ts';
import { forAll, patience } from '../support/campaign.ts';
import { engineOn, said } from '../support/engine.ts';
import { markdown, xml } from '../support/renderers.ts';

const model: ModelInfo = {
  id: 'acme:rocket',
  context: 100,
  output: 20,
  prices: { input: 10, output: 40, cacheRead: 1, cacheWrite: 12, reasoning: 30 },
  asOf: '2026-01-02',
};

/** A token for each character, and a list of what it was given to count. */
function letters(exact = true): Tokenizer & { readonly counted: string[] } {
  const counted: string[] = [];
  return {
    name: 'letters',
    exact,
    counted,
    count: (text) => {
      if (text) counted.push(text);
      return text.length;
    },
  };
}

function estimateOf(input: Partial<EstimateInput>): ReturnType<typeof estimatePrompt> {
  return estimatePrompt({
    modelId: 'acme:rocket',
    model,
    tokenizer: letters(),
    systemPrompt: '',
    fragments: [],
    messages: [],
    reserve: 0,
    chatMetadata: undefined,
    ...input,
  });
}

function answer(id: string, words: string, usage: object): UIMessage {
  return { ...said(id, words), metadata: { usage } };
}

describe('an estimate', () => {
  test('is what the model reads in all, what that costs, and on which day that was true', () => {
    const all = estimateOf({ systemPrompt: 'Be brief.', messages: [said('q1', 'Why?')] });
    expect(all).toMatchObject({
      provider: 'acme',
      model: 'rocket',
      tokens: 13,
      counted: 13,
      tokenizer: 'letters',
      exact: true,
      calibration: null,
      asOf: '2026-01-02',
    });
    expect(all.cost).toBeCloseTo((13 * 10) / 1_000_000, 12);
  });

  test('tells where the tokens go: prompt, fragments, messages', () => {
    const { systemPrompt, fragments, messages } = estimateOf({
      systemPrompt: 'hint: Be brief. ',
      fragments: [{ id: 'h', name: 'hint', text: 'hint: Be brief.' }],
      messages: [said('q1', 'Why?')],
    });
    expect(systemPrompt).toEqual({ tokens: 16, cost: 0.00016, share: 0.8 });
    expect(fragments).toEqual([{ id: 'h', name: 'hint', tokens: 15, cost: 0.00015, share: 0.75 }]);
    expect(messages).toEqual([{ id: 'q1', role: 'user', tokens: 4, cost: 0.00004, share: 0.2 }]);
  });

  test.each([
    [60, 0, { exceedsContext: false, left: 40 }],
    [60, 50, { exceedsContext: false, left: -10 }],
    [100, 0, { exceedsContext: false, left: 0 }],
    [101, 0, { exceedsContext: true, left: -1 }],
  ])('of %i tokens with %i for the answer fits, or does not', (tokens, reserve, limits) => {
    const { limits: told } = estimateOf({ systemPrompt: 'x'.repeat(tokens), reserve });
    expect(told).toEqual({ context: 100, output: 20, ...limits });
  });

  test('has no price and no limits for an unknown model', () => {
    const unknown = estimateOf({ modelId: 'x:y', model: undefined, systemPrompt: 'Be brief.' });
    expect(unknown).toMatchObject({
      tokens: 9,
      cost: null,
      asOf: null,
      limits: { context: null, output: null, exceedsContext: false, left: null },
      systemPrompt: { cost: null },
    });
  });

  test('of nothing is nothing, and JSON', () => {
    const nothing = estimateOf({});
    expect(nothing).toMatchObject({ tokens: 0, cost: 0, systemPrompt: { tokens: 0, share: 0 }, spent: null });
    expect(JSON.parse(JSON.stringify(nothing))).toEqual(nothing);
  });

  test.each([Number.NaN, -5, Infinity, undefined, '7'])('refuses a tokenizer that counts %s', (says) => {
    const tokenizer = { name: 'odd', exact: false, count: () => says as number };
    const message = `The tokenizer "odd" gave ${says} for a text: count() gives its tokens.`;
    expect(() => estimateOf({ tokenizer, systemPrompt: 'words' })).toThrow(
      expect.objectContaining({ code: 'invalid-options', message }),
    );
  });

  test('counts what a model reads as text: words, thoughts, tools, but not the bytes of a file', () => {
    const parts: UIMessage['parts'] = [
      { type: 'step-start' },
      { type: 'reasoning', text: 'hm', providerMetadata: { acme: { signature: 'x'.repeat(500) } } },
      { type: 'tool-dice', toolCallId: 't', state: 'output-available', input: {}, output: 4 },
      { type: 'file', mediaType: 'image/png', url: `data:image/png;base64,${'A'.repeat(10_000)}` },
      { type: 'file', mediaType: 'image/png', url: 'https://a.test/cat.png' },
    ];
    const tokenizer = letters();
    estimateOf({ tokenizer, messages: [{ id: 'a1', role: 'assistant', parts }] });
    expect(tokenizer.counted).toEqual([
      [
        'hm',
        '{"type":"tool-dice","toolCallId":"t","state":"output-available","input":{},"output":4}',
        '{"type":"file","mediaType":"image/png"}',
        '{"type":"file","mediaType":"image/png","url":"https://a.test/cat.png"}',
      ].join('\n'),
    ]);
  });

  test('counts each message and text once for each tokenizer', () => {
    const messages = [said('q1', 'Why?'), said('a1', 'Because.')];
    const [tokenizer, other] = [letters(), letters()];
    estimateOf({ tokenizer, systemPrompt: 'Be brief.', messages });
    estimateOf({ tokenizer, systemPrompt: 'Be brief.', messages: [...messages, said('q2', 'Really?')] });
    expect(tokenizer.counted).toEqual(['Be brief.', 'Why?', 'Because.', 'Really?']);
    estimateOf({ tokenizer: other, messages });
    expect(other.counted).toEqual(['Why?', 'Because.']);
  });
});

describe('an estimate of a chat that was estimated before', () => {
  const usage = { inputTokens: 500, outputTokens: 90 };

  test('is the same as that of one that nobody has seen', { timeout: patience }, () => {
    const tokenizer = letters(false);
    const told = (i: number): UIMessage =>
      answer(`m${i}`, 'x'.repeat(60 + i), { ...usage, outputTokens: 90 + i });
    const pool = Array.from({ length: 12 }, (_, i) => (i % 2 ? told(i) : said(`m${i}`, `why${i}`)));
    const chat = fc.array(fc.nat(11), { maxLength: 9 }).map((places) => places.map((i) => pool[i]!));
    const look = fc.record({ messages: chat, systemPrompt: fc.constantFrom('', 'Be brief.') });
    forAll(fc.array(look, { maxLength: 6 }), 300, (looks) => {
      for (const input of looks)
        expect(estimateOf({ ...input, tokenizer })).toEqual(
          estimateOf({ ...structuredClone(input), tokenizer: letters(false) }),
        );
    });
  });
});

describe('real usage', () => {
  test('corrects an estimate, and says so', () => {
    const messages = [said('q1', 'Why?'), answer('a1', 'x'.repeat(200), { outputTokens: 100 })];
    const all = estimateOf({ tokenizer: letters(false), messages });
    expect(all).toMatchObject({ counted: 204, calibration: 0.5, tokens: 102, exact: false });
    expect(all.messages[1]).toMatchObject({ tokens: 100, share: 200 / 204 });
    expect(all.cost).toBeCloseTo(0.00102, 12);
  });

  test('does not correct what a real encoding counted', () => {
    const messages = [answer('a1', 'x'.repeat(200), { outputTokens: 100 })];
    expect(estimateOf({ messages })).toMatchObject({ tokens: 200, calibration: null, exact: true });
  });

  test('tells what was spent, by kind, at the prices of the model asked for', () => {
    const usage = {
      inputTokens: 1_000,
      inputTokenDetails: { cacheReadTokens: 600, cacheWriteTokens: 100 },
      outputTokens: 500,
      outputTokenDetails: { reasoningTokens: 200 },
    };
    const { spent } = estimateOf({ messages: [answer('a1', 'Yes.', usage), answer('a2', 'No.', usage)] });
    expect(spent).toMatchObject({
      of: 'messages',
      tokens: { input: 600, cacheRead: 1_200, cacheWrite: 200, output: 600, reasoning: 400 },
    });
    const dollars = { input: 0.006, cacheRead: 0.0012, cacheWrite: 0.0024, output: 0.024, reasoning: 0.012 };
    for (const [kind, cost] of Object.entries({ ...dollars, total: 0.0456 }))
      expect(spent?.cost?.[kind as keyof typeof dollars]).toBeCloseTo(cost, 12);
  });

  test('is dearer where the prompt was a long one, as far as one can tell', () => {
    const long = {
      ...model,
      prices: { input: 10, output: 40, longPrompt: { above: 999, input: 2, output: 3 } },
    };
    const usage = { inputTokens: 1_000, outputTokens: 10 };
    const [one, two] = [answer('a1', 'Yes.', usage), answer('a2', 'No.', usage)];
    const steps = { ...two, parts: [{ type: 'step-start' }, { type: 'step-start' }] } satisfies UIMessage;
    const { spent } = estimateOf({ model: long, messages: [one, steps] });
    expect(spent?.cost).toMatchObject({ input: 0.02 + 0.01, output: 0.0012 + 0.0004 });
    expect(estimateOf({ model: long, systemPrompt: 'x'.repeat(999) }).cost).toBeCloseTo(0.00999, 12);
    expect(estimateOf({ model: long, systemPrompt: 'x'.repeat(1_000) }).cost).toBeCloseTo(0.02, 12);
  });

  test('is the chat’s own count where it keeps one; what has no price of its own costs as its kind', () => {
    const chatMetadata = {
      usage: { inputTokens: 100, cachedInputTokens: 40, outputTokens: 10, reasoningTokens: 4 },
    };
    const { spent } = estimateOf({
      model: { ...model, prices: { input: 10, output: 40 } },
      chatMetadata,
      messages: [answer('a1', 'Yes.', { inputTokens: 1, outputTokens: 1 })],
    });
    expect(spent).toMatchObject({
      of: 'chat',
      tokens: { input: 60, cacheRead: 40, cacheWrite: 0, output: 6, reasoning: 4 },
    });
    expect(spent?.cost?.total).toBeCloseTo((100 * 10 + 10 * 40) / 1_000_000, 12);
    expect(estimateOf({ model: undefined, chatMetadata }).spent?.cost).toBeNull();
  });
});

describe('estimate()', () => {
  beforeAll(() => registerModel(model));

  test('is of fragments alone: rendered in one piece, and each by itself', async () => {
    const fragments = [role('You are a tutor.'), hint('Be brief.')];
    const all = await estimate('acme:rocket', xml, ...fragments);
    expect(all.tokens).toBe(estimateTokens(xml.render(fragments)));
    expect(all.fragments.map(({ name, tokens }) => [name, tokens])).toEqual([
      ['role', estimateTokens('<role>You are a tutor.</role>')],
      ['hint', estimateTokens('<hint>Be brief.</hint>')],
    ]);
    expect(all).toMatchObject({ tokenizer: '~', exact: false, messages: [], asOf: '2026-01-02' });
    expect((await estimate('acme:rocket', markdown, ...fragments)).tokens).not.toBe(all.tokens);
  });

  test('counts messages among them as messages, and loads what is lazy', async () => {
    const later = fragment('day', () => Promise.resolve('Monday'));
    const all = await estimate('acme:rocket', xml, later, user('Why?', { id: 'q1' }));
    expect(all.messages).toMatchObject([{ id: 'q1', tokens: estimateTokens('Why?') }]);
    expect(all.fragments[0]?.tokens).toBe(estimateTokens('<day>Monday</day>'));
  });

  test('counts what replaces the last answer as a message, and what is given to an engine beside its chat', async () => {
    const better = lastAssistantMessage('Because.');
    const all = await estimate('', xml, hint('Be brief.'), better);
    expect(all.messages).toMatchObject([{ role: 'assistant', tokens: estimateTokens('Because.') }]);
    const engine = engineOn().set(role('set'), user('Why?', { id: 'q1' }));
    const given = await engine.estimate({ fragments: [hint('given'), user('And then?', { id: 'q2' })] });
    expect(given.fragments.map(({ name }) => name)).toEqual(['hint']);
    expect(given.messages.map(({ id }) => id)).toEqual(['q1', 'q2']);
  });

  test('never throws for an unknown model', async () => {
    expect(await estimate('nobody:knows', xml, hint('Be brief.'))).toMatchObject({ cost: null });
  });
});

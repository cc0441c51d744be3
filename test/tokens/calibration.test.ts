import type { UIMessage } from 'ai';
import { describe, expect, test } from 'vitest';
import { calibrationOf } from '../../src/tokens/calibration.ts';
import { measuredUsage } from '../../src/tokens/usage.ts';

/** A count that a reader can check: one token a character. */
const count = (text: string): number => text.length;

/** An answer of `estimated` tokens by that count, for which the provider counted `outputTokens`. */
function answer(
  estimated: number,
  outputTokens: unknown,
  { usage = {}, metadata = {}, parts = [] }: { usage?: object; metadata?: object; parts?: object[] } = {},
): UIMessage {
  return {
    id: crypto.randomUUID(),
    role: 'assistant',
    metadata: { usage: { outputTokens, ...usage }, ...metadata },
    parts: [{ type: 'step-start' }, { type: 'text', text: 'x'.repeat(estimated) }, ...parts],
  } as UIMessage;
}

describe('the usage of an answer', () => {
  test('is read in each form that the AI SDK has had', () => {
    const older = { inputTokens: 90, outputTokens: 40, reasoningTokens: 30, cachedInputTokens: 64 };
    const newer = {
      inputTokens: 90,
      inputTokenDetails: { noCacheTokens: 6, cacheReadTokens: 64, cacheWriteTokens: 20 },
      outputTokens: 40,
      outputTokenDetails: { textTokens: 10, reasoningTokens: 30 },
    };
    const counted = { input: 90, output: 40, cacheRead: 64, reasoning: 30 };
    expect(measuredUsage({ metadata: { usage: older } })).toEqual(counted);
    const both = { usage: older, totalUsage: newer };
    expect(measuredUsage({ metadata: both })).toEqual({ ...counted, cacheWrite: 20 });
  });

  test.each([
    undefined,
    null,
    'usage',
    { usage: null },
    { usage: {} },
    { usage: [1] },
    { usage: { inputTokens: '9' } },
  ])('is unknown where the metadata are %j', (metadata) => {
    expect(measuredUsage({ metadata })).toBeUndefined();
  });

  test('holds counts only', () => {
    const usage = {
      inputTokens: Number.NaN,
      outputTokens: -1,
      reasoningTokens: Infinity,
      cachedInputTokens: 0,
    };
    expect(measuredUsage({ metadata: { usage } })).toEqual({ cacheRead: 0 });
  });
});

describe('a calibration', () => {
  test('is what was measured over what was estimated', () => {
    expect(calibrationOf([answer(100, 120)], count)).toBeCloseTo(1.2);
  });

  test('waits for an answer that tells', () => {
    const asked: UIMessage = { ...answer(100, 150), role: 'user' };
    expect(calibrationOf([], count)).toBeUndefined();
    const untold = [asked, answer(10, 12), answer(100, undefined), answer(100, 'many')];
    expect(calibrationOf(untold, count)).toBeUndefined();
  });

  test('follows the middle of the last five, so that one odd answer bends nothing', () => {
    const last = [answer(100, 110), answer(100, 112), answer(100, 190), answer(100, 111), answer(100, 113)];
    expect(calibrationOf([answer(100, 60), ...last], count)).toBeCloseTo(1.12);
    expect(calibrationOf([answer(100, 110), answer(100, 130)], count)).toBeCloseTo(1.2);
  });

  test('stays within a factor of two', () => {
    expect(calibrationOf([answer(100, 100_000)], count)).toBe(2);
    expect(calibrationOf([answer(100_000, 100)], count)).toBe(0.5);
  });

  test('takes thinking out of what was measured', () => {
    const thought = { type: 'reasoning', text: 'a summary of it' };
    const usage = { outputTokenDetails: { reasoningTokens: 900 } };
    expect(calibrationOf([answer(100, 1020, { usage, parts: [thought] })], count)).toBeCloseTo(1.2);
    expect(calibrationOf([answer(100, 1020, { parts: [thought] })], count)).toBeUndefined();
  });

  test('passes over answers that wrote more than words', () => {
    const parts = [{ type: 'tool-search', toolCallId: 't', state: 'input-available', input: {} }];
    expect(calibrationOf([answer(100, 120, { parts })], count)).toBeUndefined();
    const shown = [
      { type: 'data-weather', data: 1 },
      { type: 'source-url', sourceId: 's', url: 'https://x.test' },
    ];
    expect(calibrationOf([answer(100, 120, { parts: shown })], count)).toBeCloseTo(1.2);
  });

  test('is of one model where the answers name theirs', () => {
    const messages = [
      answer(100, 120, { metadata: { model: 'gpt-4o' } }),
      answer(100, 150, { metadata: { modelId: 'anthropic/claude-sonnet-4-5' } }),
    ];
    expect(calibrationOf(messages, count, 'openai:gpt-4o')).toBeCloseTo(1.2);
    expect(calibrationOf(messages, count, 'anthropic:claude-sonnet-4-5')).toBeCloseTo(1.5);
    expect(calibrationOf(messages, count, 'openai:gpt-4o-2024-08-06')).toBeCloseTo(1.2);
    expect(calibrationOf([answer(100, 120)], count, 'openai:gpt-4o')).toBeCloseTo(1.2);
  });
});

import { MockLanguageModelV4 } from 'ai/test';

/** A model that says these lines, one a call, and keeps what it was asked. */
export function modelThatSays(...lines: readonly string[]): MockLanguageModelV4 {
  let call = 0;
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const text = lines[Math.min(call, lines.length - 1)] ?? '';
      call += 1;
      return {
        content: [{ type: 'text', text }],
        finishReason: { unified: 'stop', raw: 'stop' },
        usage: {
          inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 5, text: 5, reasoning: 0 },
        },
        warnings: [],
      };
    },
  });
}

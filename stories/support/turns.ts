import type { UIMessage } from 'ai';
import type { CallFacts, ContextEngine } from 'contextree';

/** How a turn of a story went. */
export interface Told {
  /** Default `complete`; `streaming` for an answer that still grows. */
  readonly status?: 'complete' | 'interrupted' | 'streaming';
  /** What its request tells; false where nobody told. */
  readonly call?: Partial<CallFacts> | false;
  readonly metadata?: object;
  /** The message that the question follows; null for a first one. Default: the last one shown. */
  readonly under?: string | null;
}

type Parts = UIMessage['parts'];

let turns = 0;

/** A question and its answer, as they would be of a request with these facts. Resolves to their keys. */
export async function turn(
  engine: ContextEngine,
  question: string,
  answer: string | Parts,
  { status = 'complete', call = {}, metadata, under }: Told = {},
): Promise<{ readonly asked: string; readonly answered: string }> {
  turns += 1;
  const asked: UIMessage = { id: `q${turns}`, role: 'user', parts: [{ type: 'text', text: question }] };
  const place = under === undefined ? {} : { parentId: under };
  const id = await engine.ask(asked, { id: `a${turns}`, ...place });
  const parts: Parts = typeof answer === 'string' ? [{ type: 'text', text: answer }] : answer;
  const message: UIMessage = { id, role: 'assistant', parts, ...(metadata ? { metadata } : {}) };
  const facts: CallFacts = {
    startedAt: Date.UTC(2026, 10, 21, 13, 5, 11) + turns * 60_000,
    firstMs: 480,
    ms: 3_900,
    status: 'complete',
    steps: 1,
    finishReason: 'stop',
    ...call,
  };
  await engine.updateMessage(id, message, status, call === false ? undefined : facts);
  return { asked: engine.node(asked.id)?.key ?? '', answered: engine.node(id)?.key ?? '' };
}

/** Metadata of an answer whose server tells who gave it and what it used. */
export const gpt4o = {
  modelId: 'openai:gpt-4o',
  usage: { inputTokens: 5_200, cachedInputTokens: 4_100, outputTokens: 240, reasoningTokens: 60 },
};

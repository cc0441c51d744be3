import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { beforeFirstWord, describeFailure, WITHOUT_A_WORD } from '../failure.ts';
import type { ModelSettings } from './settings.ts';

/** A model behind an OpenAI-compatible endpoint. */
export type EndpointModel = ReturnType<ReturnType<typeof createOpenAICompatible>['chatModel']>;

/** The model that the settings name; its requests carry the key, and nothing else does. */
export function endpointModel({ baseUrl, model, apiKey }: ModelSettings): EndpointModel {
  const provider = createOpenAICompatible({
    name: 'endpoint',
    baseURL: baseUrl.replace(/\/+$/, ''),
    includeUsage: true,
    ...(apiKey !== '' && { apiKey }),
  });
  return provider.chatModel(model);
}

/** What a test of the connection found, in words. */
export interface ConnectionReport {
  readonly works: boolean;
  readonly words: string;
}

/** How long an endpoint may take to say its first word, in ms. */
const PATIENCE = 15_000;

/**
 * Asks the endpoint for a first word, the way a question would: what passes here works in a chat. Never rejects.
 */
export async function testConnection(
  settings: ModelSettings,
  patience: number = PATIENCE,
): Promise<ConnectionReport> {
  const problem = whatIsMissing(settings);
  if (problem !== undefined) return { works: false, words: problem };
  const patienceOver = AbortSignal.timeout(patience);
  try {
    await firstWord(settings, patienceOver);
    return { works: true, words: `Connected. ${settings.model} answers.` };
  } catch (error) {
    if (!patienceOver.aborted) return { works: false, words: beforeFirstWord(describeFailure(error)) };
    return {
      works: false,
      words: `No answer within ${patience / 1000} seconds. Check that the endpoint is running.`,
    };
  }
}

function whatIsMissing({ baseUrl, model }: ModelSettings): string | undefined {
  if (baseUrl === '') return 'The demo model needs no connection. Enter a base URL to test an endpoint.';
  if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl)) {
    return 'The base URL is not an address. It looks like http://localhost:11434/v1.';
  }
  return model === '' ? 'Enter the name of a model, as the endpoint calls it.' : undefined;
}

async function firstWord(settings: ModelSettings, signal: AbortSignal): Promise<void> {
  const request = new AbortController();
  try {
    const { stream } = await endpointModel(settings).doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'Say hello.' }] }],
      abortSignal: AbortSignal.any([signal, request.signal]),
    });
    for await (const part of stream) {
      if (part.type === 'error') throw part.error;
      if (part.type === 'text-delta' || part.type === 'reasoning-delta') return;
    }
    throw new Error(WITHOUT_A_WORD);
  } finally {
    request.abort();
  }
}

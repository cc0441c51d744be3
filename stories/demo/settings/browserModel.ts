import type { LanguageModel } from 'ai';

/**
 * The model that some browsers bring along (the Prompt API), in the shape of every other model.
 *
 * It is offered only where it is there already: an app must not make somebody download gigabytes by asking a question.
 * It takes text and gives text. What else a conversation holds, such as tools, is left out of what it is shown.
 */
export function browserModel(): BrowserModel {
  return {
    specificationVersion: 'v4',
    provider: 'browser',
    modelId: 'browser',
    supportedUrls: { '*/*': [/.*/] },
    async doStream({ prompt, abortSignal }) {
      const turns = turnsOf(prompt);
      const question = turns.at(-1)?.content ?? '';
      const session = await promptApi().create({
        initialPrompts: turns.slice(0, -1),
        ...speaking(),
        ...signalled(abortSignal),
      });
      const words = session.promptStreaming(question, signalled(abortSignal));
      return { stream: words.pipeThrough(asParts(() => session.destroy())) };
    },
    doGenerate: () => Promise.reject(new Error('The model of the browser only streams.')),
  };
}

/** Whether this browser has a model of its own, ready to answer. Never rejects. */
export async function hasBrowserModel(): Promise<boolean> {
  try {
    return (await promptApi().availability(speaking())) === 'available';
  } catch {
    return false;
  }
}

/** A model object of AI SDK 7. */
type BrowserModel = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>;
type Prompt = Parameters<BrowserModel['doStream']>[0]['prompt'];
type StreamPart =
  Awaited<ReturnType<BrowserModel['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;

/** As much of the Prompt API as is used here. */
interface PromptApi {
  availability(options: Speaking): Promise<'unavailable' | 'downloadable' | 'downloading' | 'available'>;
  create(
    options: Signalled & Speaking & { readonly initialPrompts: readonly PromptTurn[] },
  ): Promise<PromptSession>;
}

interface PromptSession {
  promptStreaming(text: string, options: Signalled): ReadableStream<string>;
  destroy(): void;
}

interface PromptTurn {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

interface Speaking {
  readonly expectedOutputs: readonly { readonly type: 'text'; readonly languages: readonly string[] }[];
}

interface Signalled {
  readonly signal?: AbortSignal;
}

function promptApi(): PromptApi {
  const { LanguageModel: api } = globalThis as { readonly LanguageModel?: PromptApi };
  if (api === undefined)
    throw new Error('This browser has no model of its own. Choose another in Model settings.');
  return api;
}

/** The API wants to know what is to be spoken: the browser's language, where it is one that the API knows. */
function speaking(): Speaking {
  const own = navigator.language.slice(0, 2);
  const language = ['de', 'en', 'es', 'fr', 'ja'].includes(own) ? own : 'en';
  return { expectedOutputs: [{ type: 'text', languages: [language] }] };
}

function signalled(signal: AbortSignal | undefined): Signalled {
  return signal === undefined ? {} : { signal };
}

function turnsOf(prompt: Prompt): PromptTurn[] {
  return prompt.flatMap((message) => {
    if (message.role === 'tool') return [];
    const content = typeof message.content === 'string' ? message.content : textOf(message.content);
    return content === '' ? [] : [{ role: message.role, content }];
  });
}

function textOf(parts: readonly { readonly type: string; readonly text?: unknown }[]): string {
  return parts.map((part) => (part.type === 'text' ? String(part.text) : '')).join('');
}

/** The API does not count tokens for others to see. */
const UNCOUNTED = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

function asParts(done: () => void): TransformStream<string, StreamPart> {
  const id = 'text';
  return new TransformStream({
    start(parts) {
      parts.enqueue({ type: 'stream-start', warnings: [] });
      parts.enqueue({ type: 'text-start', id });
    },
    transform(delta, parts) {
      parts.enqueue({ type: 'text-delta', id, delta });
    },
    flush(parts) {
      parts.enqueue({ type: 'text-end', id });
      parts.enqueue({ type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage: UNCOUNTED });
      done();
    },
  });
}

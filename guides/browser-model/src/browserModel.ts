import type { LanguageModel } from 'ai';

/**
 * The model inside the browser (the Prompt API: `LanguageModel` in Chrome and Edge), in the shape of every other model
 * of the AI SDK. It takes text and gives text; the system prompt is its first initial prompt.
 */
export function browserModel(): Model {
  return {
    specificationVersion: 'v4',
    provider: 'browser',
    modelId: 'browser',
    supportedUrls: {},
    async doStream({ prompt, abortSignal }) {
      const turns = prompt.flatMap(asTurn);
      const signal = abortSignal ? { signal: abortSignal } : {};
      const session = await api().create({ initialPrompts: turns.slice(0, -1), ...expected, ...signal });
      const words = session.promptStreaming(turns.at(-1)?.content ?? '', signal);
      return { stream: words.pipeThrough(asParts(() => session.destroy())) };
    },
    doGenerate: () => Promise.reject(new Error('The model of the browser only streams.')),
  };
}

/** Whether there is a model: ready, to be downloaded first, or none at all. */
export async function availability(): Promise<Availability> {
  return hasApi() ? api().availability(expected) : 'unavailable';
}

/** Downloads the model; only after a click, browsers insist on that. `onProgress` hears of a share from 0 to 1. */
export async function download(onProgress: (share: number) => void): Promise<void> {
  const session = await api().create({
    ...expected,
    initialPrompts: [],
    monitor: (monitor) =>
      monitor.addEventListener('downloadprogress', (event) => onProgress((event as ProgressEvent).loaded)),
  });
  session.destroy();
}

export type Availability = 'unavailable' | 'downloadable' | 'downloading' | 'available';

type Model = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>;
type Message = Parameters<Model['doStream']>[0]['prompt'][number];
type Part = Awaited<ReturnType<Model['doStream']>>['stream'] extends ReadableStream<infer P> ? P : never;

interface Turn {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** As much of the Prompt API as is used here. */
interface PromptApi {
  availability(options: typeof expected): Promise<Availability>;
  create(
    options: typeof expected & {
      readonly initialPrompts: readonly Turn[];
      readonly signal?: AbortSignal;
      readonly monitor?: (monitor: EventTarget) => void;
    },
  ): Promise<{
    promptStreaming(text: string, options: { readonly signal?: AbortSignal }): ReadableStream<string>;
    destroy(): void;
  }>;
}

const expected = { expectedOutputs: [{ type: 'text', languages: ['en'] }] } as const;

function hasApi(): boolean {
  return 'LanguageModel' in globalThis;
}

function api(): PromptApi {
  return (globalThis as unknown as { readonly LanguageModel: PromptApi }).LanguageModel;
}

function asTurn({ role, content }: Message): readonly Turn[] {
  if (role === 'tool') return [];
  const text =
    typeof content === 'string'
      ? content
      : content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return text === '' ? [] : [{ role, content: text }];
}

/** Words as they come, as parts of an answer. The API keeps the number of tokens to itself. */
function asParts(done: () => void): TransformStream<string, Part> {
  const uncounted = {
    inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: undefined, text: undefined, reasoning: undefined },
  };
  return new TransformStream({
    start(parts) {
      parts.enqueue({ type: 'stream-start', warnings: [] });
      parts.enqueue({ type: 'text-start', id: 'text' });
    },
    transform(delta, parts) {
      parts.enqueue({ type: 'text-delta', id: 'text', delta });
    },
    flush(parts) {
      parts.enqueue({ type: 'text-end', id: 'text' });
      parts.enqueue({ type: 'finish', finishReason: { unified: 'stop', raw: undefined }, usage: uncounted });
      done();
    },
  });
}

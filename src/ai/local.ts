import { streamText, type ChatTransport, type UIMessage, type UIMessageChunk } from 'ai';
import { toPrompt } from './prompt.ts';
import type { RequestNote } from './contextChat.ts';
import { isUnreadable, UNREADABLE } from './asError.ts';

// Servers use these without the hooks of `contextree/ai`.
export * from './prompt.ts';

type StreamTextOptions = Parameters<typeof streamText>[0];
type Model = StreamTextOptions['model'];
type ProviderOptions = StreamTextOptions['providerOptions'];

/** What a request to a local model is made from. */
export interface LocalRequest<M extends UIMessage = UIMessage> {
  readonly chatId: string;
  /** The conversation, oldest first. */
  readonly messages: readonly M[];
  /** The system prompt; '' where there is none. */
  readonly system: string;
  readonly trigger: 'submit-message' | 'regenerate-message';
  /** How many versions of this answer exist already: 0 for the first one, and where there is no engine. */
  readonly attempt: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly metadata: unknown;
}

/**
 * How the model is called: every option of `streamText` but the prompt, which comes with each request. `model` and
 * `providerOptions` may be functions of the request.
 */
export type LocalTransportOptions<M extends UIMessage = UIMessage> = Omit<
  StreamTextOptions,
  'model' | 'providerOptions' | 'abortSignal' | 'prompt' | 'messages' | 'instructions' | 'system'
> & {
  readonly model: Model | ((request: LocalRequest<M>) => Model);
  readonly providerOptions?: ProviderOptions | ((request: LocalRequest<M>) => ProviderOptions);
  /** Metadata of the answer, merged over the `usage` that the finish reports. */
  readonly messageMetadata?: (options: { readonly part: { readonly type: string } }) => object | undefined;
  /** What the person reads when the model fails. Default: the model's own message. */
  readonly errorText?: (error: unknown) => string;
};

/**
 * A transport that calls a model in the page, without a server: for local models, for keys that the person brings, for demos
 * and tests. System prompt and conversation come with each request, as `withContext` and `useContextChat` send them; the tokens
 * used are in the answer's `metadata.usage`.
 */
export function createLocalTransport<M extends UIMessage = UIMessage>(
  options: LocalTransportOptions<M>,
): ChatTransport<M> {
  const { model, providerOptions, messageMetadata, errorText = errorTextOf, ...settings } = options;
  return {
    sendMessages: async (sent) => {
      const request = requestOf(sent);
      const chosen = typeof providerOptions === 'function' ? providerOptions(request) : providerOptions;
      const asked = typeof model === 'function' ? model(request) : model;
      const { tell, dryRun } = noteOf(sent);
      const { tools = {}, ...options } = settings;
      tell?.({ model: nameOf(asked), tools, settings: { ...options, providerOptions: chosen } });
      const prompt = await toPrompt(
        { systemPrompt: request.system, messages: sent.messages },
        settings.tools ? { tools: settings.tools } : {},
      );
      const result = streamText({
        // The failure is the last chunk of the answer; the console need not repeat it.
        onError: () => {},
        ...settings,
        ...prompt,
        ...(dryRun && settings.tools ? { tools: withoutExecute(settings.tools) } : {}),
        model: asked,
        ...(chosen ? { providerOptions: chosen } : {}),
        ...(sent.abortSignal ? { abortSignal: sent.abortSignal } : {}),
      });
      return result.toUIMessageStream({
        sendReasoning: true,
        sendSources: true,
        onError: errorText,
        messageMetadata: ({ part }) => withUsage(part, messageMetadata?.({ part })),
      }) as ReadableStream<UIMessageChunk>;
    },
    reconnectToStream: () => Promise.resolve(null),
    runsDry: true,
  } as ChatTransport<M>;
}

/** The model's name as `provider:model`, the form that prices are listed under. */
function nameOf(model: Model): string {
  return typeof model === 'string' ? model : `${model.provider.split('.')[0]}:${model.modelId}`;
}

/** The tools without `execute`: the model may call them, and none is run. */
function withoutExecute<T extends object>(tools: T): T {
  const dry = Object.entries(tools).map(([name, tool]) => [name, { ...tool, execute: undefined }]);
  return Object.fromEntries(dry) as T;
}

function requestOf<M extends UIMessage>(
  sent: Parameters<ChatTransport<M>['sendMessages']>[0],
): LocalRequest<M> {
  const { chatId, messages, metadata, trigger } = sent;
  const body = { ...sent.body } as Readonly<Record<string, unknown>>;
  const system = typeof body.system === 'string' ? body.system : '';
  return { chatId, messages, system, trigger, attempt: noteOf(sent).attempt ?? 0, body, metadata };
}

function noteOf({ metadata }: { readonly metadata?: unknown }): Partial<RequestNote> {
  return (metadata as { contextree?: RequestNote } | undefined)?.contextree ?? {};
}

/** The app's metadata over the usage that the finish reports; undefined for none, so that the answer gets no metadata. */
function withUsage(
  part: { readonly type: string; readonly totalUsage?: unknown },
  own?: object,
): object | undefined {
  const usage = part.type === 'finish' && { usage: part.totalUsage };
  return usage || own ? { ...usage, ...own } : undefined;
}

/** The message of an error, its status code in front. */
function errorTextOf(error: unknown): string {
  const failure = Object(error) as { message?: string; statusCode?: number; lastError?: unknown };
  const { message, statusCode, lastError } = failure;
  if (lastError !== undefined) return errorTextOf(lastError);
  if (isUnreadable(Object(error))) return UNREADABLE;
  const words = typeof error === 'string' ? error : (message ?? 'The model failed without a word.');
  return statusCode === undefined ? words : `${statusCode}: ${words}`;
}

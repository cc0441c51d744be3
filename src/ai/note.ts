import type { ChatTransport, UIMessage } from 'ai';
import type { Told } from '../record/record.ts';

/** A request as the AI SDK's `Chat` makes it. */
export type SendOptions<M extends UIMessage> = Parameters<ChatTransport<M>['sendMessages']>[0];

/** A request for an answer that a server may still be streaming. */
export type ReconnectOptions<M extends UIMessage> = Parameters<ChatTransport<M>['reconnectToStream']>[0];

/**
 * What stands under `contextree` in the metadata of each request. Transports see it (`requestMetadata` in
 * `prepareSendMessagesRequest`); nothing of it goes over HTTP by itself. The note of a reconnect
 * (`prepareReconnectToStreamRequest`) has `branch` and `branchId`, and the `answerId` where the page knows the answer.
 */
export interface RequestNote {
  /** The name of the branch that the answer grows on; for a branch that is made with the first word, the name of its origin. */
  readonly branch: string;
  readonly branchId: string;
  /** The id of the answer, until the server gives it another. */
  readonly answerId: string;
  /** The key of the answer: unique, and never changed. */
  readonly answerKey: string;
  /** How many versions of this answer exist already: 0 for the first one. */
  readonly attempt: number;
  /** Takes what a transport can tell of its model call. Set while somebody records requests: see `engine.record()`. */
  readonly tell?: (told: Told) => void;
  /** Whether the answer is not kept and no tool may run. A transport that respects this has `runsDry: true`. */
  readonly dryRun?: boolean;
}

/** A request before it goes out: the options of the app, and what is resolved. */
export type ResolvedRequest<M extends UIMessage = UIMessage> = RequestNote &
  Omit<SendOptions<M>, 'messages'> & {
    /** The rendered fragments; '' where there are none. */
    readonly systemPrompt: string;
    /** The conversation, oldest first, without parts that providers refuse. */
    readonly messages: M[];
  };

/** What to send instead of the default; fields that are left out keep it. */
export interface RequestParts<M extends UIMessage = UIMessage> {
  /** Default: the app's own body, with the system prompt as `system` where there is one. */
  readonly body?: object;
  /** Default: the conversation. */
  readonly messages?: M[];
  readonly headers?: NonNullable<SendOptions<M>['headers']>;
}

/** Changes a request before it goes out. */
export type PrepareRequest<M extends UIMessage = UIMessage> = (
  request: ResolvedRequest<M>,
) => RequestParts<M> | PromiseLike<RequestParts<M>>;

/** A request with the note in its metadata; metadata that are no object stay as they are. */
export function withNote<T extends { metadata?: unknown }>(sent: T, note: Partial<RequestNote>): T {
  const { metadata } = sent;
  const isRecord = typeof metadata === 'object' && !Array.isArray(metadata);
  return {
    ...sent,
    metadata: isRecord ? { ...metadata, contextree: note } : (metadata ?? { contextree: note }),
  };
}

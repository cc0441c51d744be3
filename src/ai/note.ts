import type { ChatTransport, UIMessage } from 'ai';
import type { Told } from '../record/record.ts';

/** A request as the AI SDK's `Chat` makes it. */
export type SendOptions<M extends UIMessage> = Parameters<ChatTransport<M>['sendMessages']>[0];

/** A request for an answer that a server may still stream. */
export type ReconnectOptions<M extends UIMessage> = Parameters<ChatTransport<M>['reconnectToStream']>[0];

/**
 * What stands under `contextree` in the metadata of each request. Transports see it (`requestMetadata` in
 * `prepareSendMessagesRequest`); nothing of it goes over HTTP by itself. That of a reconnect
 * (`prepareReconnectToStreamRequest`) has `branch`, `branchId`, and the `answerId` that is waited for, where there is one.
 */
export interface RequestNote {
  /** The branch that the answer grows on: its name, or where it is made with the first word, that of the one before. */
  readonly branch: string;
  readonly branchId: string;
  /** The id of the answer, until its server gives it another. */
  readonly answerId: string;
  /** Its key: that never changes, and no other message has it. */
  readonly answerKey: string;
  /** How many versions of this answer there are already: 0 for a first one. */
  readonly attempt: number;
  /** Takes what a transport can tell of the call that it makes. There while somebody records requests: see `engine.record()`. */
  readonly tell?: (told: Told) => void;
  /** Whether nothing of the answer is kept, and no tool may run. A transport that heeds this has `runsDry: true`. */
  readonly dryRun?: boolean;
}

/** A request with everything known that goes into it, before it goes out: the app's own, and what is resolved. */
export type ResolvedRequest<M extends UIMessage = UIMessage> = RequestNote &
  Omit<SendOptions<M>, 'messages'> & {
    /** The rendered fragments; '' where there are none. */
    readonly systemPrompt: string;
    /** The conversation, oldest first, without what a provider would refuse. */
    readonly messages: M[];
  };

/** What to send instead of what is sent by default; what is left out stays as it is. */
export interface RequestParts<M extends UIMessage = UIMessage> {
  /** Default: the app's own body, with the system prompt as `system` where there is one. */
  readonly body?: object;
  /** Default: the conversation. */
  readonly messages?: M[];
  readonly headers?: NonNullable<SendOptions<M>['headers']>;
}

/** Makes a request its own. */
export type PrepareRequest<M extends UIMessage = UIMessage> = (
  request: ResolvedRequest<M>,
) => RequestParts<M> | PromiseLike<RequestParts<M>>;

/** What is sent, with a note in its metadata; metadata that can hold none stay as they are. */
export function withNote<T extends { metadata?: unknown }>(sent: T, note: Partial<RequestNote>): T {
  const { metadata } = sent;
  const isRecord = typeof metadata === 'object' && !Array.isArray(metadata);
  return {
    ...sent,
    metadata: isRecord ? { ...metadata, contextree: note } : (metadata ?? { contextree: note }),
  };
}

import { readUIMessageStream, type ChatTransport, type UIMessage, type UIMessageChunk } from 'ai';
import type { ContextEngine } from '../engine/engine.ts';
import type { MessageContent, RunOptions } from '../engine/options.ts';
import { ContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import { newWords } from './pagers.ts';
import type { PrepareRequest, SendOptions } from './note.ts';
import { preparedFrom, takeOf } from './request.ts';

/** The chats that a run uses. */
interface Asker<M extends UIMessage> {
  readonly engine: ContextEngine;
  readonly transport: ChatTransport<M>;
  readonly options: { readonly request?: PrepareRequest<M> | undefined };
}

/**
 * Calls a model as a turn would, and saves nothing: there is no turn, and no chat that would run a tool. The request is
 * recorded.
 */
export async function* run<M extends UIMessage>(
  { engine, transport, options }: Asker<M>,
  { at, fragments, system, message: words, body, signal }: RunOptions,
): AsyncGenerator<UIMessage> {
  await engine.ready();
  const node = engine.node(at);
  const question = node?.name === 'assistant' ? engine.node(node.parentKey ?? '') : node;
  if (!question) {
    const text = `There is no question at message "${at}". Take the id of a question, or of its answer.`;
    throw new ContextError('message-not-found', text, { details: { at } });
  }
  const resolved = await engine.resolve({ at: question.key, signal });
  const changed = fragments && engine.fork().clear();
  const source = changed ? await changed.set(...fragments).resolve({ signal }) : resolved;
  const prompt = system === undefined ? source : { systemPrompt: system };
  const answerId = createId();
  const { branch, branchId } = engine.state.getState();
  const { keys } = engine.siblings(node?.name === 'assistant' ? at : '');
  const take = await takeOf(engine, question.key);
  const plain = {
    branch,
    branchId,
    answerId,
    answerKey: `key:${answerId}`,
    attempt: keys.length,
    dryRun: true,
  };
  const note = take ? { ...plain, ...take.begin({ ...plain, ...prompt }) } : plain;
  const sent = {
    chatId: engine.chatId,
    messages: [],
    messageId: undefined,
    trigger: 'regenerate-message' as const,
    abortSignal: signal,
    ...(body && { body }),
  };
  const messages = asked(resolved.messages as M[], words);
  const made = { systemPrompt: prompt.systemPrompt, messages };
  const prepared = await preparedFrom<M>(sent, note, made, options.request);
  const ask = (own: SendOptions<M>): Promise<ReadableStream<UIMessageChunk>> => transport.sendMessages(own);
  const stream = await (take ? take.send(prepared, ask) : ask(prepared));
  const message = { id: answerId, role: 'assistant', parts: [] } satisfies UIMessage;
  yield* readUIMessageStream({ message, stream, terminateOnError: true });
}

/** The conversation, with another text for its last question. */
function asked<M extends UIMessage>(messages: M[], content: MessageContent | undefined): M[] {
  const last = messages.at(-1);
  if (content === undefined || !last) return messages;
  return [...messages.slice(0, -1), { ...last, ...newWords(last, content) }];
}

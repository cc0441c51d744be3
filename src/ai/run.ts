import { readUIMessageStream, type UIMessage } from 'ai';
import type { MessageContent, RunOptions } from '../engine/options.ts';
import { ContextError } from '../errors.ts';
import { createId } from '../fragment/id.ts';
import { newWords } from './again.ts';
import { send, type Asker } from './request.ts';

/**
 * Calls a model as a turn would, and saves nothing: there is no turn, and no chat that would run a tool. The request is
 * recorded.
 */
export async function* run(
  chats: Asker,
  { at, fragments, system, message: words, body, signal }: RunOptions,
): AsyncGenerator<UIMessage> {
  const { engine } = chats;
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
  const answerKey = `key:${answerId}`;
  const note = { branch, branchId, answerId, answerKey, attempt: keys.length, dryRun: true };
  const sent = {
    chatId: engine.chatId,
    messages: [],
    messageId: undefined,
    trigger: 'regenerate-message' as const,
    abortSignal: signal,
    ...(body && { body }),
  };
  const messages = asked(resolved.messages, words);
  const stream = await send(chats, sent, note, { ...prompt, messages, parentKey: question.key });
  const message = { id: answerId, role: 'assistant', parts: [] } satisfies UIMessage;
  yield* readUIMessageStream({ message, stream, terminateOnError: true });
}

/** The conversation, with another text for its last question. */
function asked(messages: UIMessage[], content: MessageContent | undefined): UIMessage[] {
  const last = messages.at(-1);
  if (content === undefined || !last) return messages;
  return [...messages.slice(0, -1), { ...last, ...newWords(last, content) }];
}

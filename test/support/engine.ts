import type { UIMessage } from 'ai';
import { ContextEngine, type ContextEngineOptions } from '../../src/engine/engine.ts';
import { assistant, user } from '../../src/fragment/message.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';

/** An engine on chat `c` of user `u`, in memory unless a store is given. */
export function engineOn(
  store: ContextStore = new InMemoryContextStore(),
  options: Partial<ContextEngineOptions> = {},
): ContextEngine {
  return new ContextEngine({ chatId: 'c', userId: 'u', store, ...options });
}

/** A message with one text; its role follows the first letter of its id: q for questions, a for answers. */
export function said(id: string, text: string = id): UIMessage {
  return { id, role: id.startsWith('a') ? 'assistant' : 'user', parts: [{ type: 'text', text }] };
}

/** Sets messages with these ids (and texts like `q1=other words`), and saves them. */
export async function say(engine: ContextEngine, ...words: readonly string[]): Promise<string | undefined> {
  for (const word of words) {
    const [id = '', text = id] = word.split('=');
    const message = said(id, text);
    engine.set(message.role === 'assistant' ? assistant(message) : user(message));
  }
  return (await engine.save()).headMessageId;
}

/** The texts of messages, in order: what a person would read. */
export function texts(messages: readonly UIMessage[]): string {
  return messages
    .map((message) => message.parts.map((part) => (part.type === 'text' ? part.text : part.type)).join(' '))
    .join(' > ');
}

/** Each live branch with the words that it holds, as the store has them. */
export async function branchesIn(store: ContextStore, chatId = 'c'): Promise<Record<string, string>> {
  const branches = await store.listBranches(chatId);
  const entries = branches.map(async ({ name, headMessageId }) => {
    const chain = headMessageId === null ? [] : await store.getMessageChain(chatId, headMessageId);
    return [name, texts(chain.map(({ data }) => data))] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

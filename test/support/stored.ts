import type { UIMessage } from 'ai';
import { compareAt } from '../../src/graph/graph.ts';
import { markId } from '../../src/graph/marks.ts';
import type { ContextStore } from '../../src/store/store.ts';
import type { MessageNode } from '../../src/store/reads.ts';

// What is stored of a chat, whatever branch it is on: for tests that ask whether words are safe.

/** All messages of a chat that have words, in the order in which they were made; those by these ids, where given. */
export async function storedNodes(
  store: ContextStore,
  chatId = 'c',
  ids?: readonly string[],
): Promise<MessageNode[]> {
  const { messages } = await store.load(chatId);
  const inOrder = messages.toSorted(compareAt);
  const nodes = await Promise.all(inOrder.map(({ key }) => store.getMessage(chatId, key)));
  return nodes.filter((node) => node !== undefined).filter(({ id }) => !ids || ids.includes(id));
}

/** The same without what surrounds the words. */
export async function storedMessages(store: ContextStore, chatId = 'c'): Promise<UIMessage[]> {
  return (await storedNodes(store, chatId)).map(({ data }) => data);
}

/** What `keepFields()` kept under a name, as it is stored: by field, without those that were taken out. */
export async function fieldsIn(
  store: ContextStore,
  name: string,
  chatId = 'c',
): Promise<Record<string, unknown>> {
  const { marks } = await store.load(chatId);
  const prefix = markId.waiting(`${name} `);
  const kept = marks.filter(({ id, value }) => id.startsWith(prefix) && value !== null);
  return Object.fromEntries(kept.map(({ id, value }) => [id.slice(prefix.length), value]));
}

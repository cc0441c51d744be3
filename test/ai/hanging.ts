import type { ContextChat } from '../../src/ai/index.ts';
import type { MortalPage } from './person.ts';
import { noteOf } from './story.ts';

/**
 * Reports for a hang: it may happen once in five hundred runs, on a machine that nobody sees again, so the failing test says
 * what each page was doing.
 */

/** What a page is doing, line by line. */
export async function stateOf(page: MortalPage): Promise<string[]> {
  const { engine, chats, script, store } = page;
  const { status, error, saveState, remoteMessages, branches } = engine.state.getState();
  const growing = engine.graph().nodes.filter(({ id }) => engine.status(id) === 'streaming');
  const held = await store.held('c');
  const all = new Set((chats as unknown as { all(): Iterable<ContextChat> }).all());
  const requests = script.requests.map(
    (exchange) => `${briefly(noteOf(exchange)['answerId'])}${exchange.isStopped ? ' stopped' : ''}`,
  );
  return [
    `engine: ${status} ${error?.code ?? ''}, ${saveState.state}, elsewhere ${list(remoteMessages.map(({ id }) => id))}`,
    `takes for growing: ${list(growing.map(({ id, parentId }) => `${briefly(id)} behind ${briefly(parentId)}`))}`,
    `locks held: ${list([...held])}`,
    `branches: ${list(branches.map(({ id, name, headMessageId }) => `${name} ${briefly(id)} at ${briefly(headMessageId)}`))}`,
    `requests: ${list(requests)}`,
    ...(await Promise.all([...all].map(chatState))),
  ];
}

async function chatState(chat: ContextChat): Promise<string> {
  const settled = chat.whenSettled().then(() => 'settled');
  const turn = await Promise.race([settled, Promise.resolve().then(() => 'not settled')]);
  const { status, error, isBusy, branchId, messages } = chat;
  const last = briefly(messages.at(-1)?.id);
  return `chat of ${briefly(branchId)}: ${status}${error ? ` (${error.message})` : ''}, ${isBusy ? 'busy' : 'idle'}, ${turn}, ends with ${last}`;
}

function list(items: readonly string[]): string {
  return items.length === 0 ? 'none' : items.map(briefly).join(', ');
}

/** Ids are shortened to their beginning, as in the log of a run. */
function briefly(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return text.replaceAll(/\b([0-9a-f]{4})[0-9a-f]{4}-[0-9a-f-]{27}\b/g, '$1').slice(0, 160);
}

import { beforeEach, expect, it, vi } from 'vitest';
import { createContextChats } from '../../src/ai/index.ts';
import { ContextEngine } from '../../src/engine/engine.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { scriptedTransport, type ScriptedTransport } from '../support/transport.ts';
import { words } from '../ai/story.ts';

/** The code that is loaded when somebody speaks does not come: a deploy took it away, or the network did. */
const network = vi.hoisted(() => ({ isDown: true }));

const come = async (original: () => Promise<object>): Promise<object> => {
  if (network.isDown) throw new TypeError('Failed to fetch dynamically imported module');
  return original();
};

vi.mock('../../src/ai/turns.ts', (original) => come(original));
vi.mock('../../src/ai/ownChat.ts', (original) => come(original));

let script: ScriptedTransport;
let engine: ContextEngine;

beforeEach(() => {
  network.isDown = true;
  script = scriptedTransport();
  engine = new ContextEngine({ store: new InMemoryContextStore(), chatId: 'c', userId: 'u' });
});

it('a chat says so calmly, keeps the question, and asks it when the code has come', async () => {
  const chat = createContextChats({ engine, transport: script.transport }).active;
  await chat.sendMessage({ text: 'One?' });
  expect(chat.error).toMatchObject({ code: 'store-unavailable' });
  expect(chat.error?.message).toMatch(/^Code of contextree could not be loaded: .* Try again\.$/);
  expect([chat.status, chat.isBusy, words(chat.messages)]).toEqual(['error', false, 'q: One?']);
  network.isDown = false;
  const again = chat.regenerate();
  await (await script.next()).answer('First.');
  await again;
  expect(words((await engine.resolve()).messages)).toBe('q: One? | a: First.');
  expect(engine.state.getState().branches).toHaveLength(1);
});

it('withContext refuses the request, and sends the next one', async () => {
  const { withContext } = await import('../../src/ai/index.ts');
  const transport = withContext(script.transport, engine);
  const sent = {
    trigger: 'submit-message',
    chatId: 'own',
    messageId: undefined,
    messages: [{ id: 'q', role: 'user', parts: [{ type: 'text', text: 'One?' }] }],
    abortSignal: undefined,
  } as const;
  const send = () => transport.sendMessages({ ...sent, messages: [...sent.messages] as never });
  await expect(send()).rejects.toMatchObject({ code: 'store-unavailable' });
  network.isDown = false;
  await send();
  expect(words((await script.next()).sent.messages)).toBe('q: One?');
});

import { assistantText, ContextEngine, InMemoryContextStore, user } from 'contextree';
import { expect, it, vi } from 'vitest';
import { readMessage } from '../../devtools/readMessage.ts';

it('reads the messages of many rows at once, and not what was never there', async () => {
  const store = new InMemoryContextStore();
  const writer = new ContextEngine({ store, chatId: 'c', userId: 'me' });
  writer.set(user('Why?', { id: 'q1' }), assistantText('So.', { id: 'a1' }), user('Really?', { id: 'q2' }));
  await writer.save();
  await writer.rewind('q1');

  const engine = new ContextEngine({ store, chatId: 'c', userId: 'me' });
  await engine.ready();
  const bodies = vi.spyOn(store, 'bodies');
  const keys = ['q1', 'a1', 'q2'].map((id) => engine.node(id)?.key ?? '');
  const read = await Promise.all([...keys, 'gone'].map((messageKey) => readMessage({ engine, messageKey })));
  expect(read.map((message) => message?.id)).toEqual(['q1', 'a1', 'q2', undefined]);
  expect(bodies).toHaveBeenCalledOnce();
});

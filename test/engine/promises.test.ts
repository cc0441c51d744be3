import { expect, test } from 'vitest';
import { hint } from '../../src/fragment/builders.ts';
import { lastAssistantMessage, user } from '../../src/fragment/message.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { engineOn, said, say } from '../support/engine.ts';

// What a first call, a first write and each call after them keep, whatever came before.

test('resolve() gives pending messages the same ids each time, and those that save() writes', async () => {
  const engine = engineOn();
  await say(engine, 'q1', 'a1');
  engine.set(user('a question without an id'), lastAssistantMessage('an answer'), user(said('q3')));
  const ids = async () => (await engine.resolve()).messages.map(({ id }) => id);
  const first = await ids();
  expect(await ids()).toEqual(first);
  await engine.save();
  expect(await ids()).toEqual(first);
  expect(engine.state.getState().messages.map(({ id }) => id)).toEqual(first);
});

test('fragments that are kept go with a turn that was written again behind another tab’s', async () => {
  const store = new InMemoryContextStore();
  const [a, b] = [engineOn(store), engineOn(store, { onConflict: 'rebase', persistFragments: true })];
  await say(a, 'q1', 'a1');
  await b.ready();
  b.set(hint('be brief'), user(said('q7')));
  await Promise.all([say(a, 'q2', 'a2'), b.save()]);
  await b.save();
  const fresh = engineOn(store, { persistFragments: true });
  await fresh.ready();
  expect(fresh.render()).toContain('be brief');
});

import { ContextEngine, InMemoryContextStore } from 'contextree';
import { expect, test } from 'vitest';
import { sumOfBody } from '../../src/graph/graph.ts';
import { firstChat } from '../../stories/demo/firstChat.ts';
import { FIRST_CHAT } from '../../stories/demo/firstKeys.ts';
import { labelOn } from '../../stories/demo/conversation/branchTree.ts';

test('the first chat is what an engine would have written: nothing in it is damaged or out of place', async () => {
  const store = new InMemoryContextStore();
  const delta = firstChat(Date.now());
  const { database, generation, seq } = await store.load(FIRST_CHAT);
  const sums = delta.messages.map(({ versions: [version] }) => version?.body && sumOfBody(version.body));
  expect(delta.messages.map(({ versions: [version] }) => version?.sum)).toEqual(sums);
  // Twice, as by two tabs that opened at once, a moment apart.
  for (const later of [0, 5])
    await store.commit(FIRST_CHAT, firstChat(Date.now() + later), {
      userId: 'local',
      database,
      generation,
      since: seq,
    });
  const engine = new ContextEngine({ store, chatId: FIRST_CHAT, userId: 'local' });
  await engine.ready();
  expect(await engine.verify()).toEqual([]);
  const { branches, messages, checkpoints, branch } = engine.state.getState();
  expect(branch).toBe('main-v4');
  expect(branches.map((one) => `${one.name}: ${labelOn(one)}, ${one.messageCount}`)).toMatchInlineSnapshot(`
    [
      "main: Suggest a name for my coffee cart., 2",
      "main-v2: Slow Drip: good things take four…, 2",
      "main-v3: The Fork: it stands where two streets…, 6",
      "main-v4: Make a sign with prices., 6",
      "main-v5: How many cups does a kilo of beans make?, 6",
    ]
  `);
  expect(messages.map(({ parts: [part] }) => part?.type === 'text' && part.text.split('\n')[0])).toEqual([
    'Suggest a name for my coffee cart.',
    '**The Fork**: it stands where two streets part.',
    'Write a slogan for it.',
    'Same street, another way.',
    'Make a sign with prices.',
    '**The Fork**: same street, another way.',
  ]);
  expect(checkpoints.map(({ name }) => name)).toEqual(['Name and slogan']);
  engine.dispose();
});

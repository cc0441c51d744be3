import { describe, expect, test } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
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

/** The place and time of what was written come with the store's answer, after it shows. */
const LATER: readonly string[] = ['status', 'revision', 'chat'];

describe('each method', () => {
  const methods: readonly (readonly [
    string,
    (engine: ContextEngine) => Promise<unknown>,
    readonly string[],
  ])[] = [
    ['save', (engine) => (engine.set(user(said('q3'))), engine.save()), ['set', 'save']],
    ['edit', (engine) => engine.edit('a1', 'better'), ['branch']],
    ['rewind', (engine) => engine.rewind('q1'), ['branch']],
    ['btw', (engine) => engine.btw(), ['branch']],
    ['checkpoint', (engine) => engine.checkpoint('here'), ['checkpoint']],
    ['rename', (engine) => engine.renameBranch('main', 'trees'), ['branch']],
    ['undo', (engine) => engine.undo(), []],
  ];
  test.each(methods)(
    '%s: shows what it did in one step, and tells of it in order',
    async (_, call, events) => {
      const engine = engineOn();
      await say(engine, 'q1', 'a1');
      await engine.checkpoint('before');
      const told: string[] = [];
      const frames: string[] = [];
      engine.subscribe(({ type }) => told.push(type));
      engine.state.subscribe(
        ({ saveState: _s, pending: _p, ...now }, { saveState: _t, pending: _q, ...before }) => {
          const keys = Object.keys(now) as (keyof typeof now)[];
          if (keys.some((key) => !LATER.includes(key) && now[key] !== before[key]))
            frames.push(keys.filter((key) => now[key] !== before[key]).join(' '));
        },
      );
      await call(engine);
      expect(frames).toHaveLength(1);
      expect(told).toEqual(events);
    },
  );
});

import type { UIMessage } from 'ai';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MessageStatus } from '../../src/graph/graph.ts';
import type { MortalPage } from '../ai/person.ts';
import { SDK } from '../ai/story.ts';
import { callsIn } from '../ai/witness.ts';
import { loadApp, openApp } from './page.tsx';
import { problemsOf } from './sequence.ts';

/**
 * Whether the one who presses every button of the app would find out. Each of these bugs is what another project once
 * shipped; each is planted between the chats and the engine, and must come to light within 100 of the 2,000 runs.
 */
const MOST = 100;

type Update = (id: string, message: UIMessage, status?: MessageStatus) => Promise<void>;

/** Has the engine keep something else than it is told. */
function updating({ engine }: MortalPage, plant: (keep: Update) => Update): void {
  const keep = plant(engine.updateMessage.bind(engine));
  engine.updateMessage = (id, change, status) =>
    keep(id, typeof change === 'function' ? change(engine.message(id) as UIMessage) : change, status);
}

const bugs: Record<string, (page: MortalPage) => void> = {
  'words on another node': (page) =>
    updating(page, (keep) => (id, message, status) => {
      const at = status === 'complete' ? (page.engine.headMessageId ?? id) : id;
      return keep(at, { ...message, id: at }, status);
    }),
  'words that were not drafted yet, dropped at a stop': (page) => {
    const drafts = new Map<string, UIMessage>();
    updating(page, (keep) => (id, message, status) => {
      if (status !== 'interrupted') drafts.set(id, message);
      return keep(id, drafts.get(id) ?? message, status);
    });
  },
  'a second answer on a node that another tab writes': ({ engine }) => {
    engine.store.hold = async () => () => {};
  },
  'the result of one call in another one': (page) =>
    updating(page, (keep) => (id, message, status) => {
      const outputs = callsIn(message).flatMap(({ output }) => (output === undefined ? [] : [output]));
      const parts = message.parts.map((part) =>
        'output' in part && part.output !== undefined ? { ...part, output: outputs[0] } : part,
      );
      return keep(id, { ...message, parts }, status);
    }),
  'ready before it is saved': (page) =>
    updating(page, (keep) => async (id, message, status) => {
      void keep(id, message, status).catch(() => {});
    }),
  'another try in the place of the answer': ({ chats: { active } }) => {
    active.regenerate = () => active.sendMessage();
  },
  'the conversation of another branch, sent along': ({ engine }) => {
    const resolve = engine.resolve.bind(engine);
    engine.resolve = (options) => resolve({ ...options, at: undefined });
  },
  'a version that nobody asked for': (page) =>
    updating(page, (keep) => async (id, message, status) => {
      await keep(id, message, status);
      if (status === 'complete') await page.engine.edit(id, { parts: message.parts });
    }),
  'an old version that is gone': ({ engine }) => {
    const begin = engine.continue.bind(engine);
    engine.continue = async (messages, options) => {
      const turn = await begin(messages, options);
      const { branches } = engine.state.getState();
      const isFork = branches.some(({ id }) => id === options?.forkId);
      if (isFork && options?.branch !== undefined) void engine.deleteBranch(options.branch).catch(() => {});
      return turn;
    };
  },
  'an old version that no pager knows': ({ engine }) => {
    const versions = engine.siblings.bind(engine);
    const known = new WeakMap<object, ReturnType<typeof versions>>();
    engine.siblings = (id) => {
      const all = versions(id);
      const rest = known.get(all) ?? { index: all.index - 1, ids: all.ids.slice(1) };
      known.set(all, rest);
      return all.index > 0 ? rest : all;
    };
  },
  'an end that is not what it was': (page) =>
    updating(page, (keep) => (id, message, status) => keep(id, message, status && 'complete')),
};

/** The app with a bug in it. */
function withBug(plant: (page: MortalPage) => void): typeof openApp {
  return async (...how) => {
    const page = await openApp(...how);
    plant(page);
    return page;
  };
}

describe.runIf(SDK === 7)('a person who presses every button of an app finds', () => {
  beforeAll(loadApp);

  it.each(Object.entries(bugs))('%s', async (_, plant) => {
    let found = 0;
    for (let seed = 0; seed < MOST && found === 0; seed += 1)
      found = (await problemsOf(seed, withBug(plant))).length;
    expect(found).toBeGreaterThan(0);
  });
});

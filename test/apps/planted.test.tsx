import type { UIMessage } from 'ai';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
import { kindOf } from '../../src/graph/marks.ts';
import type { MessageStatus } from '../../src/graph/graph.ts';
import type { MortalPage } from '../ai/person.ts';
import { SDK } from '../ai/story.ts';
import { loadApp, openApp } from './page.tsx';
import { LONG, problemsOf } from './sequence.ts';

/**
 * Would the person who presses every button find a bug? Each of these bugs was shipped by another project, or breaks an
 * invariant. Each is planted between the chats and the engine, and must be reported in the words of its invariant within these
 * runs: the first ones, and as many long ones.
 */
const RUNS = Array.from({ length: 50 }, (_, i) => [i, i * LONG]).flat();

/** The words that report a bug, the number of a sequence that finds it today, and the bug. */
type Bug = readonly [told: RegExp, run: number, plant: (page: MortalPage) => void];

type Update = ContextEngine['updateMessage'];

/** Makes the engine do something else with the words of an answer. */
function updating({ engine }: MortalPage, plant: (keep: Update) => Update): void {
  engine.updateMessage = plant(engine.updateMessage.bind(engine));
}

/** Makes the engine save other words. */
function saying(
  page: MortalPage,
  words: (message: UIMessage, id: string, status: MessageStatus | undefined) => UIMessage,
): void {
  updating(page, (keep) => (id, change, status) => {
    const other = (message: UIMessage): UIMessage => words(message, id, status);
    return keep(id, typeof change === 'function' ? (saved) => other(change(saved)) : other(change), status);
  });
}

const bugs: Readonly<Record<string, Readonly<Record<string, Bug>>>> = {
  'every message that is told to be saved is there, once': {
    'a question that is told to be saved, and is not': [
      /is there 0 times/,
      12,
      ({ engine: { store } }) => {
        const commit = store.commit.bind(store);
        store.commit = (chatId, delta, options) =>
          commit(
            chatId,
            { ...delta, messages: delta.messages.filter(({ role }) => role !== 'user') },
            options,
          );
      },
    ],
    'a question that waits for its turn in the memory of the page alone': [
      /is neither saved nor kept for its turn/,
      200,
      ({ engine: { store } }) => {
        const commit = store.commit.bind(store);
        store.commit = (chatId, delta, options) =>
          commit(
            chatId,
            { ...delta, marks: delta.marks.filter((mark) => kindOf(mark) !== 'waiting') },
            options,
          );
      },
    ],
  },
  'each stream is on its own node': {
    'a second answer on a node that another tab writes': [
      /answered twice at once/,
      4,
      ({ engine }) => {
        engine.store.hold = async () => () => {};
      },
    ],
  },
  'the calls of tools and their results are together': {
    'a result that is taken back by the next words': [
      /result of .* is (lost|not saved)/,
      180,
      (page) =>
        saying(page, (message) => {
          const parts = message.parts.map((part) =>
            'output' in part && part.state === 'output-available'
              ? { ...part, state: 'input-available', output: undefined }
              : part,
          );
          return { ...message, parts } as UIMessage;
        }),
    ],
  },
  'the list that is shown is the chain': {
    'a chat that does not follow': [
      /shows .* saved is/,
      1,
      ({ chats: { active } }) => {
        Object.assign(active, { follow: () => {} });
      },
    ],
  },
  'nothing hangs': {
    'a stop that stops nothing': [
      /was not stopped/,
      24,
      ({ chats: { active } }) => {
        active.stop = async () => {};
      },
    ],
  },
  'ready means saved': {
    'ready before its words are saved': [
      /^ready, and ".*" .* is not saved/,
      220,
      (page) => {
        page.engine.store.saveDraft = async () => {};
        // A moment later: a check at once would read behind a write that is already in the line.
        updating(page, (keep) => async (id, change, status) => {
          setTimeout(() => void keep(id, change, status).catch(() => {}), 20);
        });
      },
    ],
  },
  'a version is there for each one that was asked for, and no other': {
    'a version that nobody asked for': [
      /nobody asked for/,
      3,
      (page) =>
        updating(page, (keep) => async (id, change, status) => {
          await keep(id, change, status);
          const message = page.engine.message(id);
          if (status === 'complete' && message) await page.engine.edit(id, { parts: message.parts });
        }),
    ],
  },
};

/** The app with a bug in it. */
function withBug(plant: (page: MortalPage) => void): typeof openApp {
  return async (...how) => {
    const page = await openApp(...how);
    plant(page);
    return page;
  };
}

/** The app with a bug from before its page opens: it forgets what it finds at its server. */
const forgetful: typeof openApp = (store, opening) =>
  openApp(store, {
    ...opening,
    reconnect: (...asked) => {
      opening?.reconnect?.(...asked);
      return null;
    },
  });

describe.runIf(SDK === 7)('a person who presses every button of an app finds', () => {
  beforeAll(loadApp);

  describe.each(Object.entries(bugs))('where %s:', (_, planted) => {
    it.each(Object.entries(planted))('%s', { timeout: 60_000 }, async (_name, [told, run, plant]) => {
      expect(await foundUntil(told, run, withBug(plant))).toContainEqual(expect.stringMatching(told));
    });
  });

  it('where no server goes on for nobody: an answer that is found, and forgotten', async () => {
    const told = /neither taken up nor let go/;
    expect(await foundUntil(told, 20, forgetful)).toContainEqual(expect.stringMatching(told));
  });
});

/** The problems that are found, in this sequence first, until the bug is reported in its words. */
async function foundUntil(told: RegExp, run: number, open: typeof openApp): Promise<string[]> {
  const found: string[] = [];
  for (const seed of [run, ...RUNS]) {
    found.push(...(await problemsOf(seed, open)));
    if (found.some((line) => told.test(line))) break;
  }
  return found;
}

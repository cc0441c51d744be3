import type { UIMessage } from 'ai';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
import type { MessageStatus } from '../../src/graph/graph.ts';
import type { MortalPage } from '../ai/person.ts';
import { SDK } from '../ai/story.ts';
import { callsIn } from '../ai/witness.ts';
import { loadApp, openApp } from './page.tsx';
import { LONG, problemsOf } from './sequence.ts';

/**
 * Whether the one who presses every button of the app would find out. Each of these bugs is what another project once
 * shipped, or what an invariant is there for. Each is planted between the chats and the engine, and must come to light by the
 * very words that its invariant has for it, within these of the 2,000 runs: the first ones, and as many long ones.
 */
const RUNS = Array.from({ length: 50 }, (_, i) => [i, i * LONG]).flat();

/** What tells of a bug, and the bug. */
type Bug = readonly [told: RegExp, plant: (page: MortalPage) => void];

type Update = ContextEngine['updateMessage'];

/** Has the engine do something else with the words of an answer than it is told. */
function updating({ engine }: MortalPage, plant: (keep: Update) => Update): void {
  engine.updateMessage = plant(engine.updateMessage.bind(engine));
}

/** Has the engine keep other words than it is told. */
function saying(
  page: MortalPage,
  words: (message: UIMessage, id: string, status: MessageStatus | undefined) => UIMessage,
): void {
  updating(page, (keep) => (id, change, status) => {
    const other = (message: UIMessage): UIMessage => words(message, id, status);
    return keep(id, typeof change === 'function' ? (saved) => other(change(saved)) : other(change), status);
  });
}

/** Has the engine tell another list than it has. */
function listing(
  { engine: { state } }: MortalPage,
  other: (messages: readonly UIMessage[]) => readonly UIMessage[],
): void {
  const { getState } = state;
  const told = new WeakMap<object, ReturnType<typeof getState>>();
  state.getState = () => {
    const now = getState();
    const wrong = told.get(now) ?? { ...now, messages: other(now.messages) };
    told.set(now, wrong);
    return wrong;
  };
}

const bugs: Readonly<Record<string, Readonly<Record<string, Bug>>>> = {
  'every message that is told to be saved is there, once': {
    'a question that is saved twice': [
      /is there 2 times/,
      ({ engine }) => {
        const begin = engine.continue.bind(engine);
        engine.continue = async (messages, options) => {
          const answerId = await begin(messages, options);
          const question = [messages].flat().at(-1);
          if (question) await engine.edit(question.id, { parts: question.parts });
          return answerId;
        };
      },
    ],
    'a question that is told to be saved, and is not': [
      /is there 0 times/,
      ({ engine: { store } }) => {
        const append = store.append.bind(store);
        store.append = (chatId, ops, options) =>
          append(
            chatId,
            ops.map((op) => (op.op === 'insert' && op.data.role === 'user' ? { ...op, data: NOTHING } : op)),
            options,
          );
      },
    ],
    'a question that waits for its turn in the memory of the page alone': [
      /is neither saved nor kept for its turn/,
      ({ engine: { store } }) => {
        const append = store.append.bind(store);
        store.append = (chatId, ops, options) =>
          append(
            chatId,
            ops.filter(({ op }) => op !== 'merge'),
            options,
          );
      },
    ],
    'a message that is shown twice': [
      /shows a message twice/,
      (page) => listing(page, (messages) => [...messages, ...messages.slice(-1)]),
    ],
    'words that were not drafted yet, dropped at a stop': [
      /says .* was told/,
      (page) => {
        const drafts = new Map<string, UIMessage>();
        saying(page, (message, id, status) => {
          if (status !== 'interrupted') drafts.set(id, message);
          return drafts.get(id) ?? message;
        });
      },
    ],
    'another try in the place of the answer': [
      /goes on, and nobody asked for that/,
      ({ chats: { active } }) => {
        active.regenerate = () => active.sendMessage();
      },
    ],
  },
  'each stream is on its own node': {
    'words on another node': [
      /says .* was told/,
      (page) =>
        updating(
          page,
          (keep) => (id, change, status) =>
            keep(status === 'complete' ? (page.engine.headMessageId ?? id) : id, change, status),
        ),
    ],
    'a second answer on a node that another tab writes': [
      /answered twice at once/,
      ({ engine }) => {
        engine.store.hold = async () => () => {};
      },
    ],
    'the conversation of another branch, sent along': [
      /asked with .* saved then was/,
      ({ engine }) => {
        const resolve = engine.resolve.bind(engine);
        engine.resolve = (options) => resolve({ ...options, at: undefined });
      },
    ],
    'an end that is not what it was': [
      / is complete after /,
      (page) => updating(page, (keep) => (id, change, status) => keep(id, change, status && 'complete')),
    ],
  },
  'the calls of tools and their results are together': {
    'the result of one call in another one': [
      /was given/,
      (page) => {
        const results: unknown[] = [];
        saying(page, (message) => {
          results.push(...callsIn(message).flatMap(({ output }) => (output === undefined ? [] : [output])));
          const parts = message.parts.map((part) =>
            'output' in part && part.output !== undefined ? { ...part, output: results[0] } : part,
          );
          return { ...message, parts };
        });
      },
    ],
    'a result that is taken back by the next words': [
      /result of .* is (lost|not saved)/,
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
    'a call in another answer': [
      /not where it was called/,
      (page) => {
        const calls: UIMessage['parts'] = [];
        saying(page, (message) => {
          const others = calls.filter((call) => !message.parts.some((part) => isCall(part, call)));
          calls.push(...message.parts.filter((part) => 'toolCallId' in part));
          return { ...message, parts: [...message.parts, ...others] };
        });
      },
    ],
  },
  'the list that is shown is the chain': {
    'a list that ends too early': [
      /takes .* for saved, stored is/,
      (page) => listing(page, (messages) => messages.slice(0, -1)),
    ],
    'a chat that does not follow': [
      /shows .* saved is/,
      ({ chats: { active } }) => {
        active.follow = () => {};
      },
    ],
    'a screen that shows old words': [
      /on its screen is/,
      () => {
        const watch = new MutationObserver(() => {
          for (const { firstChild } of document.querySelectorAll('li span'))
            if (firstChild && firstChild.nodeValue !== 'Old words.') firstChild.nodeValue = 'Old words.';
        });
        watch.observe(document.body, { childList: true, subtree: true, characterData: true });
        onTestFinished(() => watch.disconnect());
      },
    ],
  },
  'nothing hangs': {
    'a write whose answer gets lost': [
      /promises hang|is busy/,
      ({ engine: { store } }) => {
        const append = store.append.bind(store);
        let writes = 0;
        store.append = async (...asked) => {
          const result = await append(...asked);
          return (writes += 1) === 5 ? new Promise(() => {}) : result;
        };
      },
    ],
    'a stop that stops nothing': [
      /was not stopped/,
      ({ chats: { active } }) => {
        active.stop = async () => {};
      },
    ],
    'a draft that nobody ends': [
      /still streams/,
      (page) =>
        updating(page, (keep) => async (id, change, status) => {
          if (status !== 'interrupted') await keep(id, change, status);
        }),
    ],
  },
  'ready means saved': {
    'ready before it is settled': [
      /^ready, and .* is not settled/,
      (page) =>
        updating(page, (keep) => async (id, change, status) => {
          void keep(id, change, status).catch(() => {});
        }),
    ],
    'ready before its words are saved': [
      /^ready, and ".*" .* is not saved/,
      (page) => {
        page.engine.store.saveDraft = async () => {};
        updating(page, (keep) => async (id, change, status) => {
          void keep(id, change, status).catch(() => {});
        });
      },
    ],
  },
  'a version is there for each one that was asked for, and no other': {
    'a version that nobody asked for': [
      /nobody asked for/,
      (page) =>
        updating(page, (keep) => async (id, change, status) => {
          await keep(id, change, status);
          const message = page.engine.message(id);
          if (status === 'complete' && message) await page.engine.edit(id, { parts: message.parts });
        }),
    ],
    'an old version that is gone': [
      /is shown as version .* of .*, stored are/,
      ({ engine }) => {
        const begin = engine.continue.bind(engine);
        engine.continue = async (messages, options) => {
          const turn = await begin(messages, options);
          const { branches } = engine.state.getState();
          const isFork = branches.some(({ id }) => id === options?.forkId);
          if (isFork && options?.branch !== undefined)
            void engine.deleteBranch(options.branch).catch(() => {});
          return turn;
        };
      },
    ],
    'an old version that no pager knows': [
      /the pager of .* says/,
      ({ engine }) => {
        const versions = engine.siblings.bind(engine);
        const known = new WeakMap<object, ReturnType<typeof versions>>();
        engine.siblings = (id) => {
          const all = versions(id);
          const rest = known.get(all) ?? { index: all.index - 1, ids: all.ids.slice(1) };
          known.set(all, rest);
          return all.index > 0 ? rest : all;
        };
      },
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

/** The app with one that is there before its page is: what it finds at its server is forgotten. */
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
    it.each(Object.entries(planted))('%s', async (_name, [told, plant]) => {
      expect(await foundUntil(told, withBug(plant))).toContainEqual(expect.stringMatching(told));
    });
  });

  it('where no server goes on for nobody: an answer that is found, and forgotten', async () => {
    const told = /neither taken up nor let go/;
    expect(await foundUntil(told, forgetful)).toContainEqual(expect.stringMatching(told));
  });
});

/** What is found, until a bug is told of by the words for it. */
async function foundUntil(told: RegExp, open: typeof openApp): Promise<string[]> {
  const found: string[] = [];
  for (const seed of RUNS) {
    found.push(...(await problemsOf(seed, open)));
    if (found.some((line) => told.test(line))) break;
  }
  return found;
}

const NOTHING: UIMessage = { id: '', role: 'user', parts: [] };

function isCall(part: UIMessage['parts'][number], call: UIMessage['parts'][number]): boolean {
  return 'toolCallId' in part && 'toolCallId' in call && part.toolCallId === call.toolCallId;
}

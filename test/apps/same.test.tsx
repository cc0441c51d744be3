import type { UIMessage } from 'ai';
import { InMemoryContextStore } from 'contextree';
import { describe, expect, it, vi } from 'vitest';
import { changed, SDK, words } from '../ai/story.ts';
import { scriptedTransport, type Exchange } from '../support/transport.ts';
import { App as ContextApp } from './ContextApp.tsx';
import { App as PlainApp } from './PlainApp.tsx';
import { visit, type Opening, type Visit } from './visit.tsx';

const call = {
  type: 'tool-input-available',
  toolCallId: '1',
  toolName: 'dice',
  input: { sides: 6 },
} as const;

const asking = { type: 'tool-approval-request', approvalId: 'ok?', toolCallId: '1' } as const;

const asked: UIMessage = { id: 'q', role: 'user', parts: [{ type: 'text', text: 'One?' }] };
const said: UIMessage = { id: 'a', role: 'assistant', parts: [{ type: 'text', text: 'Said.' }] };

/** Visits of a person who never uses a version. */
const visits: Record<string, (page: Visit) => Promise<void>> = {
  'a conversation': async (page) => {
    await page.send('One?');
    await page.reply((server) => server.say('Fir'));
    await page.reply((server) => server.say('st.'));
    await page.reply((server) => server.finish({ mood: 'calm' }));
    await page.attach(new File(['hi'], 'notes.txt', { type: 'text/plain' }), new File(['ho'], 'more.txt'));
    await page.send('Two, with files?');
    await page.reply((server) => server.answer('Second.'));
  },
  'data, thoughts, sources and metadata': async (page) => {
    await page.send('Weather?');
    await page.reply((server) =>
      server.send(
        { type: 'start', messageMetadata: { mood: 'busy' } },
        { type: 'reasoning-start', id: 'r' },
        { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
        { type: 'reasoning-end', id: 'r' },
        { type: 'data-weather', id: 'w', data: { sky: 'grey' } },
        { type: 'data-note', data: 'seen once', transient: true },
        { type: 'source-url', sourceId: 's', url: 'https://example.com/', title: 'Almanac' },
      ),
    );
    await page.reply((server) => server.send({ type: 'data-weather', id: 'w', data: { sky: 'blue' } }));
    await page.reply((server) => server.answer('Blue.'));
  },
  'tools of the server that fail': async (page) => {
    const bad = { type: 'tool-input-error', toolCallId: '2', toolName: 'dice', input: 'six' } as const;
    await page.send('Roll twice?');
    await page.reply((server) =>
      server.send({ type: 'start-step' }, call, { ...bad, errorText: 'No number.' }),
    );
    await page.reply((server) =>
      server.send(
        { type: 'tool-output-error', toolCallId: '1', errorText: 'No dice.' },
        { type: 'finish-step' },
      ),
    );
    await page.reply((server) => server.answer('Sorry.'));
    await page.press('Try again');
    await page.reply((server) => server.answer('Four.'));
  },
  'an error, and another try': async (page) => {
    await page.send('One?');
    await page.reply((server) => server.say('Fir'));
    await page.reply((server) => server.fail('overloaded'));
    await page.press('Dismiss');
    await page.press('Try again');
    await page.reply((server) => server.answer('First.'));
  },
  'a connection that is lost in mid-answer': async (page) => {
    await page.send('One?');
    await page.reply((server) => server.say('Fir'));
    await page.reply((server) => server.break());
    await page.send('Two?');
    await page.reply((server) => server.say('Sec'));
    await page.reply((server) => server.drop());
    await page.press('Try again');
    await page.reply((server) => server.answer('Second.'));
  },
  'a message that is deleted': async (page) => {
    await page.send('One?');
    await page.reply((server) => server.answer('First.'));
    await page.send('Two?');
    await page.reply((server) => server.answer('Second.'));
    await page.press('Delete');
    await page.press('Try again');
    await page.reply((server) => server.answer('Other.'));
    await page.press('Delete');
    await page.press('Delete');
    await page.send('Three?');
    await page.reply((server) => server.answer('Third.'));
  },
  'another try, and other words': async (page) => {
    await page.send('One?');
    await page.reply((server) => server.answer('First.'));
    await page.press('Try again');
    await page.reply((server) => server.answer('Other.'));
    await page.edit('Edited?');
    await page.reply((server) => server.answer('Third.'));
  },
};

for (const outcome of ['Give', 'Fail'])
  visits[`a tool of the page: ${outcome}`] = async (page) => {
    await page.send('Roll?');
    await page.reply((server) => server.send({ type: 'start-step' }, call, { type: 'finish-step' }));
    await page.reply((server) => server.finish());
    await page.press(outcome);
    await page.reply((server) => server.answer('So be it.'));
    await page.send('And?');
    await page.reply((server) => server.answer('That is all.'));
  };

for (const leave of SDK > 5 ? ['Approve', 'Deny'] : [])
  visits[`a tool that asks for leave: ${leave}`] = async (page) => {
    await page.send('Roll?');
    await page.reply((server) => server.send({ type: 'start-step' }, call, asking));
    await page.reply((server) => server.finish());
    await page.press(leave);
    await page.press('Continue');
    await page.reply((server) =>
      server.send(
        leave === 'Approve'
          ? { type: 'tool-output-available', toolCallId: '1', output: 6 }
          : { type: 'tool-output-denied', toolCallId: '1' },
      ),
    );
    await page.reply((server) => server.answer('So be it.'));
    await page.send('And?');
    await page.reply((server) => server.answer('That is all.'));
  };

/** Tools are what changed between 5 and 7: on 6 only their visits are made. */
const made = Object.entries(visits).filter(([name]) => SDK !== 6 || /tool/.test(name));

describe('the app with one line changed', () => {
  it.each(made)('shows, sends and calls back the same: %s', async (_, go) => {
    const plain = await visit(PlainApp);
    await go(plain);
    const ours = await visit(ContextApp);
    await go(ours);
    expect(ours.story).toEqual(plain.story);
    const sent = ({ script }: Visit): unknown[] =>
      script.requests.map(({ sent: { messages, chatId, trigger, headers, body } }) => {
        const said = messages.map(({ role, parts, metadata }) => ({ role, parts, metadata }));
        return { messages: said, chatId, trigger, headers, body };
      });
    expect(sent(ours)).toEqual(sent(plain));
  });

  it.skipIf(SDK === 6)('shows a growing answer as often as its throttle says', async () => {
    const frames = (throttle: number): Promise<number[]> =>
      both(
        async (page) => {
          await page.send('One?');
          const list = document.querySelector('main ol')!;
          const seen = new Set<string>();
          const watch = new MutationObserver(() => seen.add(list.textContent));
          watch.observe(list, { childList: true, subtree: true, characterData: true });
          // What React is shown in act() it shows at the end of that.
          Reflect.set(globalThis, 'IS_REACT_ACT_ENVIRONMENT', false);
          for (let word = 0; word < 20; word += 1) await page.script.requests[0]!.say(`${word} `);
          Reflect.set(globalThis, 'IS_REACT_ACT_ENVIRONMENT', true);
          watch.disconnect();
          return seen.size;
        },
        { throttle },
      );
    const [often, seldom] = [await frames(0), await frames(10_000)];
    expect(Math.min(...often)).toBeGreaterThan(15);
    expect(Math.max(...seldom)).toBeLessThan(3);
  });

  it.each([
    ['a question', [asked]],
    ['a conversation', [asked, said, { ...asked, id: 'q2' }]],
  ])(
    'takes up what a server still says when the page opens on %s that the app brings along',
    async (_, messages) => {
      const open = async (App: typeof PlainApp): Promise<Visit> => {
        const script = scriptedTransport();
        // Under StrictMode a page asks twice, and is told all of it each time.
        const servers = [script.offer(), script.offer()];
        const page = await visit(App, { script, messages });
        const tell = (act: (server: Exchange) => Promise<void>): Promise<void> =>
          page.reply(async () => void (await Promise.all(servers.map(act))), servers[0]);
        await tell((server) => server.say('Fir'));
        await tell((server) => server.say('st.'));
        await tell((server) => server.finish());
        expect(page.seen()).toContain('First.');
        await page.send('Two?');
        await page.reply((next) => next.answer('Second.'));
        return page;
      };
      const plain = await open(PlainApp);
      const ours = await open(ContextApp);
      expect(ours.story).toEqual(plain.story);
      expect(words(ours.script.requests[0]!.sent.messages)).toBe(
        words(plain.script.requests[0]!.sent.messages),
      );
    },
  );
});

/** Runs one visit in both apps, the plain one first. */
async function both<T>(go: (page: Visit) => Promise<T>, opening: Opening = {}): Promise<[T, T]> {
  return [await go(await visit(PlainApp, opening)), await go(await visit(ContextApp, opening))];
}

describe.skipIf(SDK === 6)('the page "Add contextree to your useChat app" names as exceptions', () => {
  it('a question while an answer grows', async () => {
    const asked = await both(async (page) => {
      await page.send('One?');
      await page.reply((server) => server.say('Fir'));
      await page.send('Two?');
      const [first] = page.script.requests;
      const atOnce = page.script.requests.length;
      // Two are asked at once, or one grows.
      const seen = page.seen().replace(/submitted|streaming/, 'busy');
      await page.reply((server) => server.answer('st.'), first);
      return [seen, atOnce, page.script.requests.length];
    });
    const [[seen]] = asked;
    expect(seen).toContain('Two?');
    expect(asked).toEqual([
      [seen, 2, 2],
      [seen, 1, 2],
    ]);
  });

  it('the bubble of an answer', async () => {
    const bubbles = await both(async (page) => {
      await page.send('One?');
      await page.reply((server) => server.send({ type: 'start' }, { type: 'text-start', id: 't' }));
      const empty = document.querySelectorAll('li').length;
      await page.reply((server) => server.send({ type: 'text-delta', id: 't', delta: 'Fir' }));
      return [empty, document.querySelectorAll('li').length];
    });
    expect(bubbles).toEqual([
      [2, 2],
      [1, 2],
    ]);
  });

  it('an answer that was cut off', async () => {
    const sent = await both(async (page) => {
      await page.send('Roll?');
      await page.reply((server) => server.send({ type: 'start' }, call));
      await page.reply((server) => server.break());
      const shown = page.seen().includes('tool-dice input-available');
      await page.send('Two?');
      return [shown, words((await vi.waitUntil(() => page.script.requests[1])).sent.messages)];
    });
    expect(sent).toEqual([
      [true, 'q: Roll? | a: [dice input-available] | q: Two?'],
      [true, 'q: Roll? | q: Two?'],
    ]);
  });

  it('a stream that closes before a word', async () => {
    const ends = await both(async (page) => {
      await page.send('One?');
      await page.reply((server) => server.drop());
      return [page.seen().includes('There was no answer'), page.seen().endsWith('ready')];
    });
    expect(ends).toEqual([
      [false, true],
      [true, false],
    ]);
  });

  it('a stream that nobody can read', async () => {
    const alerts = await both(async (page) => {
      await page.send('One?');
      // What a transport over HTTP says of it.
      const unread = Object.assign(new Error('Unexpected token <'), { name: 'AI_JSONParseError' });
      await page.reply((server) => server.break(unread));
      return document.querySelector('[role=alert]')?.textContent ?? '';
    });
    expect(alerts).toEqual([
      expect.stringContaining('Unexpected token'),
      expect.stringContaining('The answer could not be read'),
    ]);
  });

  it('when `status` is `ready`', async () => {
    const inner = new InMemoryContextStore();
    let disk = Promise.withResolvers<void>();
    const slow = changed(inner, {
      commit: async (...args) => {
        await disk.promise;
        return inner.commit(...args);
      },
    });
    const status = (): string => document.querySelector('p[role=status]')?.textContent ?? '';
    const seen = await both(
      async (page) => {
        disk.resolve();
        await page.send('One?');
        await page.reply((server) => server.say('First.'));
        disk = Promise.withResolvers();
        await page.reply((server) => server.finish());
        const before = status();
        await page.reply(async () => disk.resolve(), page.script.requests.at(-1));
        return [before, status()];
      },
      { store: slow },
    );
    expect(seen).toEqual([
      ['ready', 'ready'],
      ['streaming', 'ready'],
    ]);
  });
});

import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { Clock } from '../support/clock.ts';
import type { Exchange } from '../support/transport.ts';
import { changed, openPage, type Page } from './story.ts';

/**
 * A laptop is closed in the middle of an answer and opened hours later. All clocks have jumped, the connection is dead, and two
 * tabs of one chat wake, in any order. A lock tells who writes an answer, and sleeps with its tab; without Web Locks a lease
 * does, which has expired by then. So the other tab takes the answer for interrupted, and a person may act on it before the tab
 * that asked has moved.
 */
let time: Clock;
let data: InMemoryContextStore;
let leases: Map<string, number>;
/** The tab that asked, and what answers it. */
let here: Page;
let exchange: Exchange;
/** The tab beside it. */
let there: Page;
let isAwake: Promise<void> | undefined;
let wake: () => void;

const HOURS = 8 * 60 * 60 * 1000;

/** A store without Web Locks: `locks.ts` does the same in a database. */
function withLeases(store: ContextStore): ContextStore {
  return changed(store, {
    hold: async (_, id) => {
      const stamp = (): void => void leases.set(id, Date.now() + 10_000);
      stamp();
      const timer = setInterval(stamp, 3000);
      return () => {
        clearInterval(timer);
        leases.delete(id);
      };
    },
    held: async () => new Set([...leases].flatMap(([id, until]) => (until > Date.now() ? [id] : []))),
  });
}

/** A store of a tab that may sleep: it neither reads nor writes then. */
function sleepy(store: ContextStore): ContextStore {
  const methods = ['saveDraft', 'commit', 'load', 'bodies', 'held'] as const;
  const awake = methods.map((method) => [
    method,
    async (...args: unknown[]): Promise<unknown> => {
      await isAwake;
      return Reflect.apply(store[method], store, args);
    },
  ]);
  return changed(store, Object.fromEntries(awake) as Partial<ContextStore>);
}

/** Lets time go by, and what is read and written meanwhile come to its end. */
async function pass(ms: number): Promise<void> {
  for (let past = 0; past < ms; past += 100) await time.pass(100);
}

async function during<T>(action: Promise<T>): Promise<T> {
  const result = await time.during(action);
  if (result === undefined) throw new Error('It never comes.');
  return result;
}

/** Two tabs, and an answer with one word on the disk, and the next one only in the tab that asked. */
async function begin(has: 'Web Locks' | 'leases'): Promise<void> {
  const own = has === 'leases' ? withLeases(data) : data;
  here = await during(openPage(sleepy(own)));
  there = await during(openPage(own));
  void here.chats.active.sendMessage({ text: 'One?' });
  exchange = await during(here.script.next());
  void exchange.say('The ');
  await pass(1000);
  void exchange.say('quick ');
  await pass(100);
  expect([here.shown(), there.shown(), await there.stored()]).toEqual([
    'q: One? | a: The quick ',
    'q: One? | a: The ',
    'q: One? | a: The ',
  ]);
}

function closeLaptop(): void {
  isAwake = new Promise((resolve) => (wake = resolve));
  vi.setSystemTime(Date.now() + HOURS);
}

/** The tab that asked wakes and finishes its work. */
async function wakeHere(): Promise<void> {
  wake();
  await vi.advanceTimersToNextTimerAsync();
  await pass(1000);
}

async function loseConnection(): Promise<void> {
  void exchange.break(new TypeError('network error'));
  await pass(3000);
}

/** The answer's words and its end, as a tab that is opened now finds them. */
async function foundLater(): Promise<string> {
  const late = await during(openPage(data));
  const id = late.chats.active.messages[1]?.id ?? '';
  return `${late.shown()} (${late.engine.status(id)})`;
}

const branches = async (): Promise<number> => (await data.listBranches('c')).length;

beforeAll(async () => {
  // Lazy code takes real time to load, which the test's clock does not know.
  await Promise.all([
    import('../../src/ai/request.ts'),
    import('../../src/ai/more.ts'),
    import('../../src/engine/session.ts'),
    import('../../src/store/memoryTables.ts'),
  ]);
});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  time = new Clock(4);
  time.install();
  data = new InMemoryContextStore();
  leases = new Map();
  isAwake = undefined;
});

afterEach(async () => {
  for (const page of [here, there]) page.engine.dispose();
  await pass(1000);
  time.remove();
  vi.useRealTimers();
});

describe.each(['Web Locks', 'leases'] as const)('an answer that slept for hours, with %s', (has) => {
  it.each(['the tab that asked', 'the other tab'])(
    'keeps every word, and can be continued and tried again, when %s wakes first',
    async (first) => {
      await begin(has);
      closeLaptop();
      if (first === 'the other tab') await pass(4000);
      expect(there.shown()).toBe('q: One? | a: The ');
      await wakeHere();
      await loseConnection();
      expect([here.shown(), there.shown()]).toEqual(['q: One? | a: The quick ', 'q: One? | a: The quick ']);
      expect(await foundLater()).toBe('q: One? | a: The quick  (interrupted)');
      const [, answer] = here.chats.active.messages;

      here.chats.active.clearError();
      void here.chats.active.sendMessage();
      void (await during(here.script.next())).answer('brown fox.');
      await pass(3000);
      expect(there.shown()).toBe('q: One? | a: The quick brown fox.');
      expect(await foundLater()).toBe('q: One? | a: The quick brown fox. (complete)');
      expect(here.chats.active.messages[1]!.id).toBe(answer!.id);
      expect(await branches()).toBe(1);

      void there.chats.active.regenerate();
      void (await during(there.script.next())).answer('Other.');
      await pass(3000);
      expect(there.shown()).toBe('q: One? | a: Other.');
      expect(await there.stored('main')).toBe('q: One? | a: The quick brown fox.');
      expect(there.engine.siblings(answer!.id).ids).toHaveLength(2);
    },
  );
});

describe('in another tab, before the one that asked has moved,', () => {
  it('nothing is begun beside an answer whose lock sleeps too', async () => {
    await begin('Web Locks');
    closeLaptop();
    await pass(4000);
    for (const act of [() => there.chats.active.sendMessage(), () => there.chats.active.regenerate()]) {
      void act();
      await pass(500);
      expect(there.chats.active.error).toMatchObject({ code: 'busy' });
      there.chats.active.clearError();
    }
    expect(there.script.requests).toHaveLength(0);
    await wakeHere();
    await loseConnection();
    expect(await foundLater()).toBe('q: One? | a: The quick  (interrupted)');
  });

  /** Acts in the other tab, and wakes the one that asked in the meantime. */
  async function meanwhile(act: () => unknown, ...words: [string, string]): Promise<void> {
    await begin('leases');
    closeLaptop();
    await pass(4000);
    expect(there.shown()).toBe('q: One? | a: The ');
    expect(there.engine.status(there.chats.active.messages[1]!.id)).toBe('interrupted');
    void act();
    const other = await during(there.script.next());
    void other.say(words[0]);
    await pass(1000);
    await wakeHere();
    await loseConnection();
    void other.answer(words[1]);
    await pass(3000);
  }

  it('an answer whose lease ran out is tried again: both versions are there, and whole', async () => {
    await meanwhile(() => there.chats.active.regenerate(), 'Oth', 'er.');
    expect(here.shown()).toBe('q: One? | a: The quick ');
    expect(there.shown()).toBe('q: One? | a: Other.');
    expect([await there.stored('main'), await there.stored('main-v2')]).toEqual([
      here.shown(),
      there.shown(),
    ]);
    expect(there.engine.siblings(there.chats.active.messages[1]!.id).ids).toHaveLength(2);
  });

  it('something is asked after an answer whose lease ran out: it gets its last words in its place', async () => {
    await meanwhile(() => there.chats.active.sendMessage({ text: 'Two?' }), 'Sec', 'ond.');
    const whole = 'q: One? | a: The quick  | q: Two? | a: Second.';
    expect([here.shown(), there.shown(), await there.stored()]).toEqual([whole, whole, whole]);
    expect(await branches()).toBe(1);
  });

  it('an answer whose lease ran out is continued: it comes to that end, in every tab', async () => {
    await meanwhile(() => there.chats.active.sendMessage(), 'slow ', 'fox.');
    expect([here.shown(), there.shown()]).toEqual([
      'q: One? | a: The slow fox.',
      'q: One? | a: The slow fox.',
    ]);
    expect(await foundLater()).toBe('q: One? | a: The slow fox. (complete)');
    expect(await branches()).toBe(1);
  });
});

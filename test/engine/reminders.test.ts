import type { UIMessage } from 'ai';
import { describe, expect, test, vi } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
import type { ContextEvent } from '../../src/engine/state.ts';
import { role } from '../../src/fragment/builders.ts';
import { assistant, lastAssistantMessage, user } from '../../src/fragment/message.ts';
import {
  elapsedExceeds,
  everyNTurns,
  once,
  reminder,
  stripReminders,
  usageExceeds,
  type ReminderContext,
} from '../../src/reminders.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { branchesIn, engineOn, said, say, texts } from '../support/engine.ts';
import { refusing } from '../support/refusal.ts';

/** Texts, with `+note` for a reminder. */
const told = (messages: readonly UIMessage[]): string =>
  texts(messages).replaceAll(/\s*<system-reminder>(.*?)<\/system-reminder>/g, '+$1');
const resolved = async (engine: ContextEngine): Promise<string> => told((await engine.resolve()).messages);
const saved = async (engine: ContextEngine): Promise<string> => {
  await engine.save();
  return resolved(engine);
};
/** Says something else each time it is asked. */
const dice = () => {
  let throws = 0;
  return vi.fn<() => string>(() => `throw${(throws += 1)}`);
};

describe('a reminder in the prompt', () => {
  test('goes with the last pending user message, is seen before save(), and is stored as it was seen', async () => {
    const store = new InMemoryContextStore();
    const says = dice();
    const engine = engineOn(store).set(role('tutor'), reminder(says), user(said('q1')), user(said('q2')));
    const { systemPrompt, messages } = await engine.resolve();
    expect(systemPrompt).toBe('<role>tutor</role>');
    expect(told(messages)).toBe('q1 > q2+throw1');
    expect(await resolved(engine)).toBe('q1 > q2+throw1');
    engine.set(assistant(said('a2')));
    expect(await saved(engine)).toBe('q1 > q2+throw1 > a2');
    expect(says).toHaveBeenCalledOnce();
    expect(await resolved(engineOn(store))).toBe('q1 > q2+throw1 > a2');
    expect((await engine.resolve()).messages.map(stripReminders)).toEqual([
      said('q1'),
      said('q2'),
      said('a2'),
    ]);
  });

  test('is evaluated again when the question changes', async () => {
    const engine = engineOn().set(reminder(dice()), user(said('q1')));
    expect(await resolved(engine)).toBe('q1+throw1');
    engine.set(user(said('q2')));
    expect(await resolved(engine)).toBe('q1 > q2+throw2');
    engine.unset('q2').set(reminder('more'));
    expect(await resolved(engine)).toBe('q1+throw3+more');
    engine.clear();
    expect(await saved(engine)).toBe('q1');
  });

  test('is evaluated again when the message moves', async () => {
    const engine = engineOn().set(reminder(({ turn }) => `turn${turn}`));
    await say(engine, 'q1', 'a1');
    await say(engine, 'q2', 'a2');
    engine.set(user(said('q3')));
    expect(await resolved(engine)).toContain('q3+turn3');
    await engine.checkout('a1');
    expect(await resolved(engine)).toBe('q1+turn1 > a1 > q3+turn2');
  });

  test('stays out of messages that are saved already, and of answers', async () => {
    const engine = engineOn();
    await say(engine, 'q1', 'a1');
    engine.set(reminder('note'));
    expect(await resolved(engine)).toBe('q1 > a1');
    engine.set(assistant(said('a2')), lastAssistantMessage('other'));
    expect(await saved(engine)).toBe('q1 > a1 > other');
  });

  test('is not found by a search, and shows in no graph: there people look for their own words', async () => {
    const store = new InMemoryContextStore();
    const engine = engineOn(store).set(reminder('check the forecast'), reminder('apart', { asPart: true }));
    await engine.set(user(said('q1', 'Will it rain?'))).save();
    expect(await resolved(engine)).toBe('Will it rain?+check the forecast+apart');
    expect(engine.graph().nodes.map(({ content }) => content)).toEqual(['Will it rain?']);
    expect((await store.getGraph('c')).nodes.map(({ content }) => content)).toEqual(['Will it rain?']);
    for (const word of ['forecast', 'apart', 'reminder'])
      expect(await store.searchMessages('c', word)).toEqual([]);
    const [hit] = await store.searchMessages('c', 'rain');
    expect(hit?.snippet).toBe('Will it <mark>rain</mark>?');
  });

  test('knows the turn, the messages before it, the usage, and the time', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000 });
    const seen: ReminderContext[] = [];
    const engine = engineOn();
    await say(engine, 'q1', 'a1');
    await engine.trackUsage({ totalTokens: 12 });
    vi.setSystemTime(61_000);
    const watch = reminder((context) => void seen.push(context));
    await engine.set(watch, user(said('q2'))).save();
    await engine.set(user(said('q3')), user(said('q4'))).save();
    vi.useRealTimers();
    expect(seen.map(({ turn, messages, text }) => [turn, texts(messages), text])).toEqual([
      [2, 'q1 > a1', 'q2'],
      [4, 'q1 > a1 > q2 > q3', 'q4'],
    ]);
    expect(seen[0]).toMatchObject({ elapsedMs: 60_000, usage: { totalTokens: 12 } });
    expect(seen[1]?.elapsedMs).toBe(0);
  });

  test('fires by its predicate, on the branch where it is asked', async () => {
    const engine = engineOn().set(
      reminder('second', { when: everyNTurns(2) }),
      reminder('long', { when: elapsedExceeds(1e9) }),
      reminder('dear', { when: usageExceeds(10) }),
      reminder('hello', { when: once('hello') }),
    );
    await say(engine, 'q1', 'a1');
    await say(engine, 'q2', 'a2');
    expect(await resolved(engine)).toBe('q1+hello > a1 > q2+second > a2');
    await engine.trackUsage({ totalTokens: 11 });
    await engine.rewind('a1');
    await say(engine, 'q3');
    expect(await resolved(engine)).toBe('q1+hello > a1 > q3+second+dear');
  });

  test('that throws does not fire, and is reported with its message; the turn is saved', async () => {
    const events: ContextEvent[] = [];
    const broken = (): never => {
      throw new Error('boom');
    };
    const engine = engineOn().set(reminder('x', { when: broken }), reminder(broken), reminder('kept'));
    engine.subscribe((event) => events.push(event));
    expect(await saved(engine.set(user(said('q1'))))).toBe('q1+kept');
    expect(events.filter(({ type }) => type === 'error')).toEqual([
      expect.objectContaining({
        code: 'invalid-fragment',
        id: 'q1',
        message: expect.stringContaining('boom') as string,
      }),
      expect.objectContaining({ code: 'invalid-fragment', id: 'q1' }),
    ]);
  });

  test('that hangs holds nobody back', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const engine = engineOn().set(
      reminder(() => new Promise(() => {})),
      user(said('q1')),
    );
    const saving = saved(engine);
    const turns = setInterval(() => vi.advanceTimersByTime(10_000), 1);
    expect(await saving).toBe('q1');
    clearInterval(turns);
    vi.useRealTimers();
  });

  test('is said as it was, when a disk that refused takes the turn later', async () => {
    const { store, refuse } = refusing(new InMemoryContextStore());
    const engine = engineOn(store).set(reminder(dice()), user(said('q1')));
    await engine.ready();
    refuse('quota-exceeded');
    await expect(engine.save()).rejects.toMatchObject({ code: 'quota-exceeded' });
    expect(await resolved(engine)).toBe('q1+throw1');
    refuse(undefined);
    await engine.retry();
    expect(await resolved(engineOn(store))).toBe('q1+throw1');
  });
});

describe('versions', () => {
  test('one in place has its own as well', async () => {
    const engine = engineOn().set(reminder(({ turn }) => `turn${turn}`));
    await say(engine, 'q1', 'a1', 'q2');
    engine.set(user(said('q1', 'q1 better')));
    await engine.save({ branch: false });
    expect(await resolved(engine)).toBe('q1 better+turn1 > a1 > q2+turn2');
  });

  test('edit() makes one too, also from parts and metadata of the old one', async () => {
    const engine = engineOn().set(reminder(dice()));
    await say(engine, 'q1', 'a1');
    await engine.edit('q1', 'other words');
    expect(await resolved(engine)).toBe('other words+throw2');
    const [old] = (await engine.resolve()).messages;
    await engine.edit('q1', {
      parts: [...old!.parts, { type: 'text', text: 'and more' }],
      metadata: old!.metadata,
    });
    expect(await resolved(engine)).toBe('other words and more+throw3');
  });

  test('a retry with the words alone writes nothing', async () => {
    const store = new InMemoryContextStore();
    const engine = engineOn(store).set(reminder('note'));
    await say(engine, 'q1', 'a1');
    await say(engine, 'q1');
    await say(engineOn(store), 'q1');
    expect(told((await engine.resolve()).messages)).toBe('q1+note > a1');
    expect(Object.keys(await branchesIn(store))).toEqual(['main']);
  });

  test('a changed message is a new version, whose reminders are decided anew', async () => {
    const store = new InMemoryContextStore();
    const engine = engineOn(store).set(reminder(dice()));
    await say(engine, 'q1', 'a1');
    const [old] = (await engine.resolve()).messages;
    expect(told([old!])).toBe('q1+throw1');
    engine.set(user({ ...old!, parts: [{ type: 'text', text: 'q1 better' }] }));
    expect(await saved(engine)).toBe('q1 better+throw2');
    expect(await resolved(engine)).toBe('q1 better+throw2');
    await engine.switchBranch('main');
    expect(await resolved(engine)).toBe('q1+throw1 > a1');
  });

  test.each([true, false])(
    'one takes nothing along from the old words, reminders there or not: %s',
    async (still) => {
      const engine = engineOn().set(reminder(dice()));
      await say(engine, 'q1', 'a1');
      if (!still) engine.clear();
      const [old] = (await engine.resolve()).messages;
      const longer = { ...old!, parts: [...old!.parts, { type: 'text' as const, text: 'more' }] };
      const note = still ? '+throw2' : '';
      expect(await saved(engine.set(user(longer)))).toBe(`q1 more${note}`);
      await engine.switchBranch('main');
      await engine.ask(longer);
      expect(await resolved(engine)).toBe(`q1 more${still ? '+throw3' : ''}`);
    },
  );
});

describe('ask()', () => {
  test('stores the question with its reminder, and asks again without another', async () => {
    const engine = engineOn().set(reminder(dice()));
    const answer = await engine.ask(said('q1'));
    await engine.updateMessage(answer, said('a1'), 'complete');
    expect(await resolved(engine)).toBe('q1+throw1 > a1');
    const second = await engine.ask(said('q1'));
    expect(second).not.toBe(answer);
    await engine.updateMessage(second, said('a2'), 'complete');
    expect(await resolved(engine)).toBe('q1+throw1 > a2');
    expect(engine.siblings(second).ids).toEqual([answer, second]);
    await engine.ask(said('q2'));
    expect(await resolved(engine)).toBe('q1+throw1 > a2 > q2+throw2');
  });

  test('knows the same message with its reminder and without', async () => {
    const engine = engineOn().set(reminder('note'));
    await say(engine, 'q1', 'a1');
    expect(engine.matches(said('q1'))).toBe(true);
    expect(engine.matches((await engine.resolve()).messages[0]!)).toBe(true);
    expect(engine.matches(said('q1', 'other'))).toBe(false);
    expect(engine.matches(said('q9'))).toBeUndefined();
  });
});

describe('user() with reminders', () => {
  test('takes them along in both forms, whichever message is last', async () => {
    const engine = engineOn().set(
      reminder('all'),
      user('one', { id: 'q1' }, reminder('own')),
      user(said('q2'), reminder('mine', { asPart: true }), reminder('never', { when: () => false })),
      user('three'),
    );
    expect(await resolved(engine)).toBe('one+own > q2+mine > three+all');
    expect(await saved(engine)).toBe('one+own > q2+mine > three+all');
    expect((await engine.resolve()).messages[0]?.id).toBe('q1');
  });
});

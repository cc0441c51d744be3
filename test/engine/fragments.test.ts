import { describe, expect, test, vi } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
import type { ContextEngineOptions } from '../../src/engine/options.ts';
import type { ContextEvent } from '../../src/engine/state.ts';
import type { ContextError } from '../../src/errors.ts';
import { hint, role, term } from '../../src/fragment/builders.ts';
import { fragment, type ContextFragment } from '../../src/fragment/fragment.ts';
import { assistant, user } from '../../src/fragment/message.ts';
import type { Mark } from '../../src/graph/graph.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { branchesIn, engineOn, said, say, texts } from '../support/engine.ts';
import { refusing } from '../support/refusal.ts';

const named = (engine: ContextEngine) => engine.state.getState().fragments.map(({ name }) => name);
/** What is kept with the chat, as another engine renders it. */
const renderedAnew = async (
  store: ContextStore,
  options: Partial<ContextEngineOptions> = {},
): Promise<string> => {
  const engine = keeping(store, options);
  await engine.ready();
  return engine.render();
};
const keeping = (store: ContextStore, options: Partial<ContextEngineOptions> = {}) =>
  engineOn(store, { persistFragments: true, ...options });

describe('set()', () => {
  test('puts messages into the pending lane and all others into the prompt, and is chainable', () => {
    const engine = engineOn();
    expect(engine.set(role('tutor'), user('Hello')).set(hint('Be brief.'))).toBe(engine);
    expect(named(engine)).toEqual(['role', 'hint']);
    expect(engine.state.getState().pending.map(({ name }) => name)).toEqual(['user']);
    expect(engine.render()).toBe('<role>tutor</role>\n<hint>Be brief.</hint>');
  });

  test('copies: what the caller changes later is not seen, and nothing of the caller is changed', () => {
    const engine = engineOn();
    const data = { rule: 'first' };
    const own = Object.freeze({ name: 'rules', data });
    engine.set(own);
    data.rule = 'second';
    expect(engine.render()).toContain('first');
    expect(own).toEqual({ name: 'rules', data: { rule: 'second' } });
  });

  test('says the same thing twice when it is set twice', () => {
    const engine = engineOn();
    const once = hint('Be brief.');
    engine.set(once, once);
    expect(named(engine)).toEqual(['hint', 'hint']);
  });

  test.each<[string, unknown]>([
    ['no fragment', 'a string'],
    ['a fragment without a name', { name: '', data: 'x' }],
    ['a fragment that holds a symbol', { name: 'x', data: [Symbol('s')] }],
  ])('refuses what is %s', (_what, broken) => {
    const set = () => engineOn().set(broken as ContextFragment);
    expect(set).toThrow(expect.objectContaining({ code: 'invalid-fragment' }));
  });

  test('survives rewinding and switching', async () => {
    const engine = engineOn();
    await say(engine, 'q1', 'a1');
    engine.set(hint('Be brief.'));
    await engine.rewind('q1');
    await engine.switchBranch('main');
    expect(named(engine)).toEqual(['hint']);
  });
});

describe('unset() and clear()', () => {
  test('take out by id or by the very fragment, from both lanes, and leave the rest', () => {
    const engine = engineOn();
    const brief = hint('Be brief.');
    engine.set(
      brief,
      { ...hint('Be kind.'), id: 'kind' },
      hint('Be right.'),
      user(said('q1')),
      user(said('q2')),
    );
    engine.unset('kind').unset(brief).unset('q1').unset('unknown');
    expect(engine.render()).toBe('<hint>Be right.</hint>');
    expect(engine.state.getState().pending.map(({ id }) => id)).toEqual(['q2']);
  });

  test('clear() empties the prompt but for mounted fragments, and keeps what is pending', () => {
    const engine = engineOn();
    const owner = {};
    engine.set(hint('Be brief.'), user(said('q1')));
    engine.mountFragments(owner, 0, [role('mounted')]);
    expect(named(engine.clear())).toEqual(['role']);
    expect(engine.state.getState().pending).toHaveLength(1);
    engine.unmountFragments(owner);
    expect(engine.render()).toBe('');
  });
});

describe('mounted fragments', () => {
  test('stand after those of set(), in the order of their mounting, and are replaced in their place', () => {
    const engine = engineOn();
    const [first, second] = [{}, {}];
    engine.mountFragments(second, 2, [fragment('b', 'x')]);
    engine.mountFragments(first, 1, [fragment('a', 'x'), fragment('a2', 'x')]);
    engine.set(fragment('set', 'x'));
    expect(named(engine)).toEqual(['set', 'a', 'a2', 'b']);
    engine.mountFragments(first, 1, [fragment('a3', 'x')]);
    expect(named(engine)).toEqual(['set', 'a3', 'b']);
    engine.unmountFragments(second);
    expect(named(engine)).toEqual(['set', 'a3']);
  });

  test('are no messages', () => {
    expect(() => engineOn().mountFragments({}, 0, [user('Hello')])).toThrow('not messages');
  });
});

/** The fragments kept with chat `c`; put others in their place, where these are told. */
async function keep(store: InMemoryContextStore, change?: (kept: readonly unknown[]) => readonly unknown[]) {
  const { marks, seq: since, database, generation } = await store.load('c');
  const mark = marks.find(({ id }) => id === 'fragments') as Mark;
  const kept = mark.value as readonly unknown[];
  if (!change) return kept;
  const next = { ...mark, rev: mark.rev + 1, value: change(kept) };
  const options = { userId: 'u', database, generation, since };
  await store.commit('c', { messages: [], ends: [], marks: [next] }, options);
  return change(kept);
}

describe('persistFragments', () => {
  test('keeps fragments with the chat, in the transaction of save(), and only when it is asked for', async () => {
    const store = new InMemoryContextStore();
    const commit = vi.spyOn(store, 'commit');
    const engine = keeping(store).set(role('tutor'), user(said('q1')));
    await engine.save();
    expect(commit).toHaveBeenCalledTimes(1);
    await say(engineOn(store, { chatId: 'd' }).set(hint('not kept')), 'q1');
    expect(await renderedAnew(store)).toBe('<role>tutor</role>');
    expect(await renderedAnew(store, { chatId: 'd' })).toBe('');
  });

  test('loads them once, before the ones of this run, and equal ones stand once', async () => {
    const store = new InMemoryContextStore();
    await keeping(store).set(role('tutor'), hint('Be brief.')).save();
    const engine = keeping(store).set(hint('New here.'), hint('Be brief.'));
    await engine.ready();
    await engine.ready();
    expect(engine.render()).toBe('<role>tutor</role>\n<hint>Be brief.</hint>\n<hint>New here.</hint>');
    await engine.save();
    expect(await renderedAnew(store)).toBe(engine.render());
  });

  test('writes nothing when nothing changed', async () => {
    const store = new InMemoryContextStore();
    await keeping(store).set(role('tutor')).save();
    const commit = vi.spyOn(store, 'commit');
    await keeping(store).set(role('tutor')).save();
    expect(commit).not.toHaveBeenCalled();
  });

  test('forgets what was taken out before it was read, and keeps what was set after', async () => {
    const store = new InMemoryContextStore();
    const brief = { ...hint('Be brief.'), id: 'brief' };
    await keeping(store).set(role('tutor'), brief).save();
    const byId = keeping(store).unset('brief');
    await byId.ready();
    expect(byId.render()).toBe('<role>tutor</role>');
    const bySelf = keeping(store).set(brief).unset(brief);
    await bySelf.ready();
    expect(bySelf.render()).toBe('<role>tutor</role>');
    const all = keeping(store).clear().set(brief);
    await all.save();
    expect(all.render()).toBe('<hint>Be brief.</hint>');
    expect(await renderedAnew(store)).toBe('<hint>Be brief.</hint>');
  });

  test.each<[string, (mine: ContextFragment) => string | ContextFragment]>([
    ['its id', () => 'brief'],
    ['the fragment that was set again', (mine) => mine],
  ])('forgets what was taken out by %s after a reload', async (_how, by) => {
    const store = new InMemoryContextStore();
    const mine = { ...hint('Be brief.'), id: 'brief' };
    await keeping(store).set(role('tutor'), mine).save();
    const engine = keeping(store).set(mine);
    await engine.ready();
    engine.unset(by(mine));
    expect(engine.render()).toBe('<role>tutor</role>');
    await engine.save();
    expect(await renderedAnew(store)).toBe('<role>tutor</role>');
  });

  test('forgets it also when the disk refused at first', async () => {
    const { store, refuse } = refusing(new InMemoryContextStore());
    await keeping(store).set(role('tutor')).save();
    const engine = keeping(store);
    await engine.ready();
    engine.clear();
    refuse('quota-exceeded');
    await expect(engine.save()).rejects.toMatchObject({ code: 'quota-exceeded' });
    refuse(undefined);
    await engine.save();
    expect(await renderedAnew(store)).toBe('');
  });

  test('skips what can not be written down, says so, and goes on using it', async () => {
    const store = new InMemoryContextStore();
    const engine = keeping(store).set(
      role('tutor'),
      hint(() => 'computed'),
      fragment('own', 'kind'),
    );
    const events: ContextEvent[] = [];
    engine.subscribe((event) => events.push(event));
    await engine.save();
    const errors = events.filter(({ type }) => type === 'error');
    expect(errors).toMatchObject([
      { code: 'invalid-fragment', message: expect.stringContaining('Fragment "hint" is not kept') },
      { code: 'invalid-fragment', message: expect.stringContaining('Fragment "own" is not kept') },
    ]);
    expect((await engine.resolve()).systemPrompt).toContain('computed');
    expect(await renderedAnew(store)).toBe('<role>tutor</role>');
  });

  test('leaves out those with persist: false, mounted ones, and messages', async () => {
    const store = new InMemoryContextStore();
    const engine = keeping(store).set({ ...hint('now'), persist: false }, term('a', 'b'), user(said('q1')));
    engine.mountFragments({}, 0, [role('mounted')]);
    await engine.save();
    const again = keeping(store);
    await again.ready();
    expect(named(again)).toEqual(['term']);
    expect(await branchesIn(store)).toEqual({ main: 'q1' });
  });

  test('shows what it knows of a fragment with fields of a newer version, and writes all of them back', async () => {
    const store = new InMemoryContextStore();
    await keeping(store).set(hint('Be brief.')).save();
    const later = { type: 'hint', text: 'Be brief.', weight: 2 };
    await keep(store, () => [later]);
    const engine = keeping(store);
    await engine.ready();
    expect(engine.render()).toBe('<hint>Be brief.</hint>');
    await engine.set(role('tutor')).save();
    expect(await keep(store)).toEqual([later, { type: 'role', content: 'tutor' }]);
  });

  test('leaves out what a newer version wrote and this one can not read, and writes it back', async () => {
    const store = new InMemoryContextStore();
    await keeping(store).set(role('tutor')).save();
    const hologram = { type: 'hologram', text: 'x' };
    await keep(store, (kept) => [hologram, ...kept]);
    const engine = keeping(store);
    await engine.ready();
    expect(engine.render()).toBe('<role>tutor</role>');
    await engine.set(hint('Be brief.')).save();
    expect(await keep(store)).toEqual([
      expect.objectContaining({ type: 'role' }),
      expect.objectContaining({ type: 'hint' }),
      hologram,
    ]);
    engine.clear();
    await engine.save();
    expect(await keep(store)).toEqual([]);
  });

  test('takes nothing over from a deleted chat with the same id', async () => {
    const store = new InMemoryContextStore();
    await say(keeping(store).set(role('of the old chat')), 'q1');
    await store.deleteChat('c');
    const engine = keeping(store);
    await say(engine, 'q2');
    expect(engine.render()).toBe('');
    expect(await renderedAnew(store)).toBe('');
  });
});

describe('fork()', () => {
  test('is a chat of its own in memory, with the same fragments and no messages', async () => {
    const store = new InMemoryContextStore();
    const engine = keeping(store, { validate: () => {} }).set(hint('Be brief.'));
    engine.mountFragments({}, 0, [role('mounted')]);
    await say(engine, 'q1');
    engine.set(user(said('q2')));
    const child = engine.fork();
    expect(child.chatId).not.toBe('c');
    expect([child.userId, child.render()]).toEqual(['u', engine.render()]);
    await say(child, 'q9');
    child.set(hint('Only here.'));
    expect(texts((await child.resolve()).messages)).toBe('q9');
    expect(engine.render()).not.toContain('Only here.');
    expect((await store.listChats()).map(({ id }) => id)).toEqual(['c']);
  });
});

describe('dispose()', () => {
  test('stops hearing other tabs and telling listeners; what is called still works', async () => {
    const store = new InMemoryContextStore();
    const [engine, other] = [engineOn(store), engineOn(store)];
    await Promise.all([engine.ready(), other.ready()]);
    const heard = vi.fn<(event: ContextEvent) => void>();
    engine.subscribe(heard);
    engine.dispose();
    await say(other, 'q1');
    await engine.loadMore(0);
    expect(texts(engine.state.getState().messages)).toBe('');
    expect(heard).not.toHaveBeenCalled();
    const id = await engine.ask(said('q7'), { id: 'a7' });
    await engine.updateMessage(id, said('a7'), 'complete');
    expect(Object.values(await branchesIn(store)).toSorted()).toEqual(['q1', 'q7 > a7']);
  });

  test('may come before anything was read, and twice', async () => {
    const engine = engineOn();
    engine.dispose();
    engine.dispose();
    await say(engine, 'q1');
    expect(engine.headMessageId).toBe('q1');
  });
});

describe('updateChat()', () => {
  test('sets and clears the title, merges metadata in depth one, and leaves undefined as it was', async () => {
    const store = new InMemoryContextStore();
    const engine = engineOn(store);
    await engine.updateChat({ title: 'Python', metadata: { a: 1, n: { x: 1 } } });
    expect(engine.chat).toMatchObject({ title: 'Python', metadata: { a: 1, n: { x: 1 } } });
    await engine.updateChat({ metadata: { b: null, n: { y: 2 } } });
    expect(engine.chat).toMatchObject({ title: 'Python', metadata: { a: 1, b: null, n: { y: 2 } } });
    await engine.updateChat({ title: null });
    expect(engine.chat?.title).toBeUndefined();
    expect((await store.getChat('c'))?.metadata).toEqual({ a: 1, b: null, n: { y: 2 } });
  });

  test('is refused where metadata is no JSON, and writes nothing then', async () => {
    const store = new InMemoryContextStore();
    await expect(engineOn(store).updateChat({ title: 'x', metadata: { big: 1n } })).rejects.toMatchObject({
      code: 'invalid-options',
      details: { path: 'metadata.big' },
    });
    expect(await store.getChat('c')).toBeUndefined();
  });
});

describe('the texts of refusals', () => {
  const refusals: Readonly<Record<string, readonly ((engine: ContextEngine) => Promise<unknown>)[]>> = {
    'branch-not-found: Branch "nope" not found in chat "c"': [
      (engine) => engine.switchBranch('nope'),
      (engine) => engine.ask(said('q1'), { branch: 'nope' }),
    ],
    'checkpoint-not-found: Checkpoint "nope" not found in chat "c"': [(engine) => engine.restore('nope')],
    'message-not-found: Message "zzz" not found': [
      (engine) => engine.rewind('zzz'),
      (engine) => engine.selectSibling('zzz'),
      (engine) => engine.updateMessage('zzz', said('zzz')),
      (engine) => engine.checkpoint('x', { at: 'zzz' }),
      (engine) => engine.ask(said('q1'), { parentId: 'zzz' }),
    ],
    'empty-branch: Cannot create checkpoint: no messages in conversation': [
      (engine) => engine.checkpoint('x'),
    ],
    'empty-branch: Cannot create btw branch: no messages in conversation': [(engine) => engine.btw()],
    'invalid-options: A branch needs a name: got " ".': [(engine) => engine.renameBranch('main', ' ')],
    'invalid-messages: ask() needs at least one message.': [(engine) => engine.ask([])],
  };

  test.each(Object.entries(refusals))('%s', async (told, calls) => {
    for (const call of calls) {
      const { code, message } = (await call(engineOn()).catch((error: unknown) => error)) as ContextError;
      expect(`${code}: ${message}`).toBe(told);
    }
  });

  test('name what is meant in their details', async () => {
    const chat = { chatId: 'c' };
    await expect(engineOn().switchBranch('nope')).rejects.toMatchObject({
      details: { branch: 'nope', ...chat },
    });
    await expect(engineOn().restore('nope')).rejects.toMatchObject({
      details: { checkpoint: 'nope', ...chat },
    });
    await expect(engineOn().rewind('zzz')).rejects.toMatchObject({ details: { id: 'zzz' } });
    const answer = 5 as never;
    await expect(engineOn().ask(said('q1'), { answer, id: 'a1' })).rejects.toThrow('parts must be a list');
  });

  test('a message whose text can not be stored names the path', async () => {
    const engine = engineOn();
    const id = await engine.ask(said('q1'), { id: 'a1' });
    const broken = { ...said('a1'), parts: [{ type: 'data-x', data: { run: () => 1 } }] };
    await expect(engine.updateMessage(id, broken as never, 'complete')).rejects.toMatchObject({
      code: 'invalid-messages',
      details: { path: 'parts[0].data.run' },
    });
    expect(() => engine.set(assistant({ id: 'x', role: 'assistant', parts: 'none' as never }))).toThrow(
      'parts must be a list',
    );
  });
});

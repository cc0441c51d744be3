import type { UIMessage } from 'ai';
import { describe, expect, test, vi } from 'vitest';
import type { ContextEngineOptions } from '../../src/engine/options.ts';
import type { ContextEvent } from '../../src/engine/state.ts';
import { hint, role } from '../../src/fragment/builders.ts';
import { fragment } from '../../src/fragment/fragment.ts';
import { assistant, lastAssistantMessage, user } from '../../src/fragment/message.ts';
import { MarkdownRenderer } from '../../src/render/markdown.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { engineOn, put, said, say, texts } from '../support/engine.ts';

async function chat(words: readonly string[], options: Partial<ContextEngineOptions> = {}) {
  const store = new InMemoryContextStore();
  const engine = engineOn(store, options);
  if (words.length > 0) await say(engine, ...words);
  const resolved = async (how: Parameters<typeof engine.resolve>[0] = {}) =>
    texts((await engine.resolve(how)).messages);
  return { store, engine, resolved };
}

/** An engine that opens on what is there, and the events that it tells. */
function reopened(store: InMemoryContextStore, options: Partial<ContextEngineOptions> = {}) {
  const engine = engineOn(store, options);
  const events: ContextEvent[] = [];
  engine.subscribe((event) => events.push(event));
  return { engine, events };
}

/** A promise that waits until it is opened. */
function gate() {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open: () => open() };
}

/** Puts a message into the store as an older version, or a bug, might have left it there. */
async function leave(store: InMemoryContextStore, data: object): Promise<void> {
  await engineOn(store).save();
  await put(store, 'c', [data as UIMessage]);
}

describe('the system prompt', () => {
  test('is XML unless the engine, or the call, says otherwise', async () => {
    const { engine } = await chat([]);
    engine.set(hint('Be brief.'));
    expect((await engine.resolve()).systemPrompt).toBe('<hint>Be brief.</hint>');
    expect((await engine.resolve({ renderer: new MarkdownRenderer() })).systemPrompt).toBe(
      '## Hint\nBe brief.',
    );
    const markdown = await chat([], { renderer: new MarkdownRenderer() });
    markdown.engine.set(hint('Be brief.'));
    expect((await markdown.engine.resolve()).systemPrompt).toBe('## Hint\nBe brief.');
  });

  test('may come from a renderer of the app', async () => {
    const { engine } = await chat([]);
    engine.set(role('tutor'), hint('Be brief.'));
    const names = {
      name: 'names',
      render: (fragments: readonly { name: string }[]) => fragments.map(({ name }) => name).join(),
    };
    expect((await engine.resolve({ renderer: names })).systemPrompt).toBe('role,hint');
  });

  test('is text, whatever a renderer of the app gives', async () => {
    const { engine } = await chat(['q1']);
    const renderer = { name: 'none', render: () => null as unknown as string };
    await expect(engine.resolve({ renderer })).rejects.toMatchObject({
      code: 'invalid-options',
      message: 'The renderer "none" gave no text: null.',
    });
    await expect(engine.resolve({ renderer: null as never })).rejects.toMatchObject({
      code: 'invalid-options',
    });
  });

  test('loads what is lazy, each time anew, and keeps the order in which it was set', async () => {
    const { engine } = await chat([]);
    let loads = 0;
    const slow = new Promise<string>((resolve) => setTimeout(resolve, 5, 'slow'));
    engine.set(
      hint(slow),
      role(() => `load ${(loads += 1)}`),
      fragment('last', 'plain'),
    );
    expect((await engine.resolve()).systemPrompt).toBe(
      '<hint>slow</hint>\n<role>load 1</role>\n<last>plain</last>',
    );
    expect((await engine.resolve()).systemPrompt).toContain('load 2');
    expect(() => engine.render()).toThrow(/is a promise that is not loaded yet/);
  });

  test('fails with the path of what did not load, and stops when it is told to', async () => {
    const { engine } = await chat([]);
    engine.set(fragment('weather', { today: () => Promise.reject(new Error('no network')) }));
    await expect(engine.resolve()).rejects.toMatchObject({
      code: 'invalid-fragment',
      message: expect.stringMatching(/weather.*today.*no network/s),
    });
    engine.clear().set(hint(() => new Promise(() => {})));
    const abort = new AbortController();
    const resolving = engine.resolve({ signal: abort.signal });
    abort.abort();
    await expect(resolving).rejects.toMatchObject({ code: 'aborted' });
  });
});

describe('the messages', () => {
  test('of an empty chat are none', async () => {
    const { engine } = await chat([]);
    expect((await engine.resolve()).messages).toEqual([]);
  });

  test('are the stored objects, with keys that nobody knows, the same at each call', async () => {
    const store = new InMemoryContextStore();
    await leave(store, { ...said('q1'), flavour: 'vanilla' });
    const { engine } = reopened(store);
    const [first] = (await engine.resolve()).messages;
    expect(first).toMatchObject({ flavour: 'vanilla' });
    expect((await engine.resolve()).messages[0]).toBe(first);
    expect(engine.state.getState().messages[0]).toBe(first);
  });

  test('are a list of its own for each caller', async () => {
    const { engine, resolved } = await chat(['q1', 'a1']);
    (await engine.resolve()).messages.length = 0;
    expect(await resolved()).toBe('q1 > a1');
  });

  test('without parts are left out, saved ones and pending ones', async () => {
    const { engine, resolved } = await chat(['q1']);
    engine.set(assistant({ id: 'a1', role: 'assistant', parts: [] }), user(said('q2')));
    expect(await resolved()).toBe('q1 > q2');
    await engine.save();
    expect(await resolved()).toBe('q1 > q2');
  });

  test('include what is pending, exactly as save() writes it', async () => {
    const { engine, resolved } = await chat(['q1', 'a1', 'q2', 'a2']);
    engine.set(
      user(said('q3')),
      assistant(said('a1', 'better')),
      lastAssistantMessage('best'),
      user(said('q4')),
    );
    const promised = await resolved();
    expect(promised).toBe('q1 > best > q4');
    await engine.save();
    expect(await resolved()).toBe(promised);
  });

  test('that are broken in the store are kept and shown, left out here, and told', async () => {
    const store = new InMemoryContextStore();
    await leave(store, { id: 'q1', role: 'user', parts: [{ type: 'text' }] });
    const { engine, events } = reopened(store);
    await say(engine, 'a1');
    expect(texts((await engine.resolve()).messages)).toBe('a1');
    expect(engine.state.getState().messages).toHaveLength(2);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'error', code: 'invalid-messages', id: 'q1' }),
    );
  });

  test('include one that grows while the others are checked', async () => {
    const [asked, checked] = [gate(), gate()];
    const validate = async () => {
      asked.open();
      await checked.passed;
    };
    const { engine, resolved } = await chat([], { validate });
    const id = await engine.ask(said('q1'), { id: 'a1' });
    const resolving = resolved();
    await asked.passed;
    await engine.updateMessage(id, said('a1', 'growing'), 'streaming');
    checked.open();
    expect(await resolving).toBe('q1 > growing');
    expect(await resolved()).toBe('q1 > growing');
  });
});

describe('validate()', () => {
  const words = (messages: UIMessage[]) => messages.map(({ id }) => id);

  test('sees each message once, with what was not seen before', async () => {
    const validate = vi.fn<(messages: UIMessage[]) => void>();
    const { engine } = await chat(['q1', 'a1'], { validate });
    await engine.resolve();
    await engine.resolve();
    expect(validate.mock.calls.map(([messages]) => words(messages))).toEqual([['q1', 'a1']]);
    await say(engine, 'q2');
    await engine.resolve();
    expect(validate.mock.calls.map(([messages]) => words(messages))).toEqual([['q1', 'a1'], ['q2']]);
  });

  test('sees a message again that has changed', async () => {
    const validate = vi.fn<(messages: UIMessage[]) => void>();
    const { engine } = await chat(['q1', 'a1'], { validate });
    await engine.resolve();
    await engine.updateMessage('a1', said('a1', 'better'));
    await engine.resolve();
    expect(validate.mock.calls.map(([messages]) => texts(messages))).toEqual(['q1 > a1', 'better']);
  });

  test('that refuses a message leaves only that one out, tells it, and changes nothing else', async () => {
    const validate = async (messages: UIMessage[]) => {
      if (messages.some(({ id }) => id === 'a1')) throw new Error('a1 is strange');
      return [];
    };
    const { store, engine } = await chat(['q1', 'a1', 'q2']);
    const { engine: strict, events } = reopened(store, { validate });
    expect(texts((await strict.resolve()).messages)).toBe('q1 > q2');
    expect(events.filter(({ type }) => type === 'error')).toMatchObject([
      { code: 'invalid-messages', id: 'a1', message: expect.stringContaining('a1 is strange') },
    ]);
    expect(texts(strict.state.getState().messages)).toBe('q1 > a1 > q2');
    expect(texts((await engine.resolve()).messages)).toBe('q1 > a1 > q2');
  });

  test('leaves a pending message out, too, as it will when it is saved', async () => {
    const validate = (messages: UIMessage[]) => {
      if (messages.some(({ id }) => id === 'q2')) throw new Error('no');
    };
    const { engine, resolved } = await chat(['q1'], { validate });
    engine.set(user(said('q2')), user(said('q3')));
    expect(await resolved()).toBe('q1 > q3');
    await engine.save();
    expect(await resolved()).toBe('q1 > q3');
  });
});

describe('elsewhere', () => {
  test('another branch is resolved by name or id, without what is pending here', async () => {
    const { engine, resolved } = await chat(['q1', 'a1']);
    const { id } = await engine.rewind('q1');
    engine.set(user(said('q7')));
    expect(await resolved()).toBe('q1 > q7');
    expect(await resolved({ branch: 'main' })).toBe('q1 > a1');
    await engine.switchBranch('main');
    expect(await resolved({ branch: id })).toBe('q1');
  });

  test('any message is resolved as if it were the head', async () => {
    const { engine, resolved } = await chat(['q1', 'a1', 'q2', 'a2']);
    await say(engine, 'a1=better');
    expect(await resolved({ at: 'a2' })).toBe('q1 > a1 > q2 > a2');
    expect(await resolved({ at: 'q1' })).toBe('q1');
    expect(await resolved()).toBe('q1 > better');
  });

  test('an unknown branch and an unknown message are refused', async () => {
    const { engine } = await chat(['q1']);
    await expect(engine.resolve({ branch: 'nope' })).rejects.toMatchObject({ code: 'branch-not-found' });
    await expect(engine.resolve({ at: 'zzz' })).rejects.toMatchObject({ code: 'message-not-found' });
  });
});

test('twenty thousand messages that wait cost what twenty times a thousand do', async () => {
  const engine = engineOn();
  engine.set(...Array.from({ length: 20_000 }, (_, i) => user('Why?', { id: `q${i}` })));
  const before = process.cpuUsage();
  expect((await engine.resolve()).messages).toHaveLength(20_000);
  // By the square it is more than ten seconds, in line less than one.
  expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
}, 120_000);

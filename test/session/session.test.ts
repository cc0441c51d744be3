import { describe, expect, test, vi } from 'vitest';
import type { ContextEngine } from '../../src/engine/engine.ts';
import type { ContextEvent } from '../../src/engine/state.ts';
import { hint, role } from '../../src/fragment/builders.ts';
import { fragment } from '../../src/fragment/fragment.ts';
import { sumOfBody } from '../../src/graph/graph.ts';
import { MarkdownRenderer } from '../../src/render/markdown.ts';
import { exportSession, openSession, type Session } from '../../src/session.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { engineOn, said, say, texts } from '../support/engine.ts';
import { refusing } from '../support/refusal.ts';

const KEY = `sk-proj-${'a1B2c3D4'.repeat(5)}`;

/** The way of a session through a file. */
async function file(engine: ContextEngine, options?: Parameters<typeof exportSession>[1]): Promise<Session> {
  return JSON.parse(JSON.stringify(await exportSession(engine, options))) as Session;
}

/** What a person sees of a chat. */
function seen(engine: ContextEngine) {
  const { branch, branches, checkpoints, messages } = engine.state.getState();
  return {
    branch,
    branches: branches.map(({ name, headKey, label }) => [name, headKey, label]),
    checkpoints: checkpoints.map(({ name, messageId }) => [name, messageId]),
    words: texts(messages),
    graph: engine.graph(),
    operations: engine.operations(),
  };
}

async function toldChat(): Promise<ContextEngine> {
  const engine = engineOn();
  engine.set(role('A tutor'), fragment('rules', hint('Be kind.')));
  await say(engine, 'q1', 'a1', 'q2', 'a2');
  await engine.edit('q2', 'other words');
  await engine.checkpoint('Here', { at: 'a1' });
  await engine.renameBranch('main', 'First');
  await engine.switchBranch('First');
  await engine.updateChat({ title: 'A talk', metadata: { model: 'm' } });
  return engine;
}

describe('a session', () => {
  test('is the chat again: messages, branches, checkpoints, operations, title, and the branch that was shown', async () => {
    const engine = await toldChat();
    const copy = await openSession(await file(engine));
    expect(seen(copy)).toEqual(seen(engine));
    expect(copy.chat).toMatchObject({ title: 'A talk', metadata: { model: 'm' } });
    expect(copy.isReadOnly).toBe(true);
    expect(engine.isReadOnly).toBe(false);
    expect(await copy.verify()).toEqual([]);
  });

  test('opens from its text and from a file, as from itself', async () => {
    const session = await exportSession(await toldChat());
    const text = JSON.stringify(session);
    for (const given of [text, new Blob([text]), session])
      expect((await openSession(given)).graph().nodes).toHaveLength(5);
  });

  test('has the prompt as the app rendered it, and its fragments', async () => {
    const engine = engineOn(undefined, { renderer: new MarkdownRenderer() });
    engine.set(role('A tutor'), hint('Be kind.'));
    await say(engine, 'q1');
    const copy = await openSession(await file(engine));
    const { systemPrompt } = await engine.resolve();
    expect((await copy.resolve()).systemPrompt).toBe(systemPrompt);
    expect(copy.state.getState().fragments.map(({ name }) => name)).toEqual(['role', 'hint']);
    expect(copy.renderer.name).toBe(engine.renderer.name);
  });

  test('tells what happened, and where', async () => {
    const engine = engineOn();
    const events: ContextEvent[] = [];
    engine.subscribe((event) => events.push(event));
    await say(engine, 'q1', 'a1');
    const session = await file(engine, { events });
    expect(session.environment).toMatchObject({ persistence: 'memory', saveState: 'saved', unsaved: 0 });
    const told: ContextEvent[] = [];
    (await openSession(session)).subscribe((event) => told.push(event));
    expect(told).toEqual(JSON.parse(JSON.stringify(events)));
  });

  test('has what could not be saved, and says so', async () => {
    const { store, refuse } = refusing(new InMemoryContextStore());
    const engine = engineOn(store);
    await say(engine, 'q1', 'a1');
    refuse('quota-exceeded');
    await engine.ask(said('q2'));
    const session = await file(engine);
    expect(session.environment).toMatchObject({ saveState: 'error: quota-exceeded', unsaved: 2 });
    expect(texts((await openSession(session)).state.getState().messages)).toBe('q1 > a1 > q2');
  });

  test('shows an answer that was growing as one that was cut off', async () => {
    const engine = engineOn();
    const id = await engine.ask(said('q1'));
    await engine.updateMessage(id, said(id, 'half of'), 'streaming');
    const copy = await openSession(await file(engine));
    expect(texts(copy.state.getState().messages)).toBe('q1 > half of');
    expect(copy.status(id)).toBe('interrupted');
    expect(await copy.verify()).toEqual([]);
  });

  test('of an empty chat is an empty chat', async () => {
    const copy = await openSession(await file(engineOn()));
    expect(copy.graph().nodes).toEqual([]);
    expect(copy.state.getState()).toMatchObject({ status: 'ready', chat: null });
  });
});

describe('secrets', () => {
  async function withSecrets(): Promise<ContextEngine> {
    const engine = engineOn();
    engine.set(hint(`Use ${KEY}`));
    await say(engine, `q1=my key is ${KEY}`, 'a1=and my password: hunter2', 'q2');
    await engine.checkpoint(`with ${KEY}`);
    await engine.updateChat({ title: KEY, metadata: { apiKey: KEY } });
    return engine;
  }

  test('are masked, and what was masked is told', async () => {
    const session = await file(await withSecrets());
    expect(JSON.stringify(session)).not.toMatch(/a1B2|hunter2/);
    expect(session.masked).toMatchObject({ password: expect.any(Number) as number });
    expect(session.masked?.['OpenAI key']).toBeGreaterThanOrEqual(5);
    for (const { body, sum } of session.records.messages.flatMap(({ versions }) => versions))
      expect(sum).toBe(sumOfBody(body!));
    const copy = await openSession(session);
    expect(texts(copy.state.getState().messages)).toMatch(
      /^my key is \[OpenAI key \w{6}\] > and my password: \[password \w\w\] > q2$/,
    );
    expect(await copy.verify()).toEqual([]);
  });

  test('stay where somebody says so', async () => {
    const engine = await withSecrets();
    const session = await file(engine, { mask: false });
    expect(session.masked).toBeNull();
    expect(seen(await openSession(session))).toEqual(seen(engine));
  });
});

/** A request of a file, with a secret in what was sent and in what came. */
const request = {
  at: 0,
  system: `Use ${KEY}`,
  spans: [],
  messages: [0],
  body: {},
  told: {},
  headerNames: [],
  chunks: [{ ms: 0, chunk: { type: 'text-delta', id: 't', delta: KEY } }],
};

describe('a copy', () => {
  test('masks the requests of its file where they are shown', async () => {
    const session = { ...(await file(engineOn())), requests: [request], messages: [said('q1', KEY)] };
    const [copied] = (await openSession(JSON.stringify(session))).requests();
    expect(JSON.stringify(copied)).toContain('a1B2');
    const shown = JSON.stringify(await copied?.masked());
    expect(shown).not.toContain('a1B2');
    expect(shown.match(/\[OpenAI key/g)).toHaveLength(3);
  });

  const writes: readonly [name: string, run: (engine: ContextEngine) => Promise<unknown>][] = [
    ['save', (engine) => engine.save()],
    ['ask', (engine) => engine.ask(said('q9'))],
    ['updateMessage', (engine) => engine.updateMessage('q1', said('q1', 'x'))],
    ['edit', (engine) => engine.edit('q1', 'x')],
    ['add', (engine) => engine.add([said('q9')], { parentId: 'q1' })],
    ['rewind', (engine) => engine.rewind('q1')],
    ['restore', (engine) => engine.restore('Here')],
    ['btw', (engine) => engine.btw()],
    ['renameBranch', (engine) => engine.renameBranch('First', 'x')],
    ['deleteBranch', (engine) => engine.deleteBranch('First')],
    ['undo', (engine) => engine.undo()],
    ['redo', (engine) => engine.redo()],
    ['checkpoint', (engine) => engine.checkpoint('x')],
    ['renameCheckpoint', (engine) => engine.renameCheckpoint('Here', 'x')],
    ['deleteCheckpoint', (engine) => engine.deleteCheckpoint('Here')],
    ['updateChat', (engine) => engine.updateChat({ title: 'x' })],
    ['trackUsage', (engine) => engine.trackUsage({ inputTokens: 1 })],
    ['repair', (engine) => engine.repair()],
  ];

  test.each(writes)('refuses %s()', async (name, run) => {
    const copy = await openSession(await file(await toldChat()));
    const before = seen(copy);
    await expect(run(copy)).rejects.toMatchObject({ code: 'invalid-options', details: { method: name } });
    expect(seen(copy)).toEqual(before);
  });

  test('is looked at from everywhere', async () => {
    const copy = await openSession(await file(await toldChat()));
    await copy.checkout('a1');
    expect(copy.headMessageId).toBe('a1');
    await copy.switchBranch(copy.state.getState().branches.at(-1)?.name ?? '');
    expect(texts(copy.state.getState().messages)).toContain('other words');
    expect((await copy.inspect({ at: 'q1' })).fragments.persisted).toHaveLength(1);
    expect((await copy.graph({ at: copy.operations()[0]!.at - 1 })).checkpoints).toEqual([]);
  });

  test('leaves the chat of the same id alone', async () => {
    const store = new InMemoryContextStore();
    const engine = engineOn(store);
    await say(engine, 'q1');
    const commit = vi.spyOn(store, 'commit');
    const copy = await openSession(await file(engine));
    await copy.checkout('q1');
    expect(commit).not.toHaveBeenCalled();
  });
});

describe('what is no session', () => {
  test.each([
    ['', 'nothing'],
    ['{', 'half a text'],
    ['null', 'null'],
    ['[]', 'a list'],
    ['{"format":"contextree-session","version":1}', 'a session without a chat'],
    ['{"format":"other","version":1}', 'another format'],
  ])('%j is refused: %s', async (text) => {
    await expect(openSession(text)).rejects.toMatchObject({ code: 'invalid-import' });
  });

  test('of a later version says so', async () => {
    const session = { ...(await file(engineOn())), version: 2 };
    await expect(openSession(JSON.stringify(session))).rejects.toMatchObject({ code: 'newer-format' });
  });

  test('with damaged or hostile records is refused whole, and changes nothing else', async () => {
    const session = await file(await toldChat());
    const damaged: unknown[] = [
      { ...session, records: { ...session.records, messages: [{}] } },
      { ...session, records: { ...session.records, messages: [null] } },
      { ...session, records: { ...session.records, marks: [{ id: 1 }] } },
      { ...session, requests: [null] },
      { ...session, requests: [{ messages: 1 }] },
      { ...session, requests: [{ ...request, chunks: [{ ms: 0 }] }] },
      { ...session, events: [{ type: 'save', at: 1, ms: null }] },
      { ...session, prompt: { ...session.prompt, fragments: [null] } },
    ];
    for (const one of damaged)
      await expect(openSession(JSON.stringify(one))).rejects.toMatchObject({ code: 'invalid-import' });
    const operation = Object.keys(session.records.local ?? {}).find((name) => name.startsWith('operation'));
    for (const [view, entry] of [
      [5, null],
      [{ used: 5 }, { id: 'x', at: 1, undo: [null] }],
    ] as const) {
      const records = { ...session.records, local: { view, [operation ?? 'operation x']: entry } };
      const engine = await openSession(JSON.stringify({ ...session, records }));
      expect(engine.operations()).toEqual([]);
      // What is said at once is a millisecond apart each, and may run ahead of the clock.
      const last = Math.max(...engine.graph().nodes.map(({ at }) => at));
      expect((await engine.graph({ at: last })).nodes).toEqual(engine.graph().nodes);
    }
    const polluted = JSON.stringify(session).replace('{', '{"__proto__":{"polluted":true},');
    await openSession(polluted);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

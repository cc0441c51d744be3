import { lastAssistantMessageIsCompleteWithToolCalls, type UIMessage, type UIMessageChunk } from 'ai';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ContextError } from '../../src/errors.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { say } from '../support/engine.ts';
import { settle, type Exchange } from '../support/transport.ts';
import { openPage, slowly, words, type Page } from './story.ts';

let page: Page;

beforeEach(async () => {
  page = await openPage();
});

const call = (toolCallId: string): UIMessageChunk[] => [
  { type: 'start' },
  { type: 'start-step' },
  { type: 'tool-input-available', toolCallId, toolName: 'dice', input: { sides: 6 } },
  { type: 'finish-step' },
];

async function askForDice(toolCallId = 'call-1'): Promise<Exchange> {
  const exchange = await page.begin('Roll?');
  await exchange.send(...call(toolCallId));
  return exchange;
}

const give = (output: unknown, toolCallId = 'call-1') => ({
  tool: 'dice' as never,
  toolCallId,
  output: output as never,
});

/** From now on, the chat sends an answer on when its last tool call has a result. */
function goesOnByItself(): void {
  const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithToolCalls;
  page.chats.configure({ transport: page.script.transport, sendAutomaticallyWhen });
}

describe("a tool's result", () => {
  it('is saved on the node that called', async () => {
    await (await askForDice()).finish();
    await expect.poll(() => page.shown()).toBe('q: Roll? | a: [dice input-available]');
    await page.chats.active.addToolOutput(give(4));
    expect(await page.saved()).toBe('q: Roll? | a: [dice output-available]');
    expect(page.engine.state.getState().branches).toHaveLength(1);
    await page.ask('And?', 'Four.');
    expect(words(page.script.requests[1]!.sent.messages)).toBe(
      'q: Roll? | a: [dice output-available] | q: And?',
    );
    expect(await page.stored()).toBe('q: Roll? | a: [dice output-available] | q: And? | a: Four.');
  });

  it('lets the answer go on by itself, though no JSON can hold all of it', async () => {
    goesOnByItself();
    await (await askForDice()).finish();
    await page.chats.active.addToolOutput(give({ eyes: 4, again: () => {} }));
    await (await page.script.next()).answer('Four.');
    await page.chats.whenSettled();
    expect(page.chats.active.error).toBeUndefined();
    expect(await page.stored()).toBe('q: Roll? | a: [dice output-available]/Four.');
  });

  it('that comes in mid-stream is not overwritten by the words after it', async () => {
    const exchange = await askForDice();
    await page.chats.active.addToolOutput(give(4));
    await exchange.send(
      { type: 'text-start', id: 'x' },
      { type: 'text-delta', id: 'x', delta: 'You rolled' },
    );
    await exchange.send({ type: 'text-end', id: 'x' });
    await exchange.finish();
    expect(await page.saved()).toBe('q: Roll? | a: [dice output-available]/You rolled');
  });

  it.each(['stop', 'regenerate'] as const)(
    'that comes as its answer ends by %s() is on the disk when its promise resolves, however close they are',
    async (end) => {
      for (let steps = 0; steps < 16; steps += 1) {
        page = await openPage(slowly(new InMemoryContextStore(), 2));
        await askForDice();
        const chat = page.chats.active;
        const owner = chat.messages.at(-1)!.id;
        const given = chat.addToolOutput(give(4));
        for (let step = 0; step < steps; step += 1) await Promise.resolve();
        void chat[end]();
        await given;
        const stored = await page.store.getMessage('c', owner);
        expect([steps, words([stored!.data])]).toEqual([steps, 'a: [dice output-available]']);
      }
    },
  );

  it('leaves alone what another tab gave meanwhile, also where the chat had no time to look', async () => {
    const exchange = await askForDice();
    await exchange.send(...call('call-2').slice(1));
    await exchange.finish();
    const other = await openPage(page.store);
    const busy = await page.begin('And?');
    await other.chats.active.addToolOutput(give(4, 'call-1'));
    await settle();
    await page.chats.active.addToolOutput(give(5, 'call-2'));
    await busy.answer('So.');
    await page.chats.whenSettled();
    const [, saved] = page.engine.state.getState().messages;
    const outputs = saved?.parts.flatMap((part) => ('output' in part ? [part.output] : []));
    expect(outputs).toEqual([4, 5]);
    expect(page.shown()).toContain('[dice output-available]/[dice output-available]');
  });

  it('is not sent on again and again to a model that has nothing to say', async () => {
    goesOnByItself();
    await (await askForDice()).finish();
    await page.chats.active.addToolOutput(give(4));
    await (await page.script.next()).finish();
    await page.chats.whenSettled();
    await settle();
    expect(page.chats.active.status).toBe('ready');
    expect(page.script.requests).toHaveLength(2);
    await page.ask('And?', 'Four.');
    expect(await page.stored()).toBe('q: Roll? | a: [dice output-available] | q: And? | a: Four.');
  });
});

it('saves each finished step durably, whatever happens after it', async () => {
  const exchange = await askForDice();
  await exchange.send(
    { type: 'tool-output-available', toolCallId: 'call-1', output: 2 },
    { type: 'finish-step' },
  );
  await exchange.send({ type: 'start-step' });
  const [, answer] = await page.store.getMessages('c');
  expect(answer).toMatchObject({ status: 'streaming' });
  expect(words([answer!.data])).toBe('a: [dice output-available]');
});

it('that an answer elsewhere would write over is refused: in the chat, and to whoever waits for it', async () => {
  await (await askForDice()).finish();
  await page.chats.whenSettled();
  const heard: Error[] = [];
  const { chats } = await openPage(page.store, { onError: (error) => void heard.push(error) });
  const exchange = await page.goOn();
  // Nobody waits: no rejection is left without a handler.
  void chats.active.addToolOutput(give(4));
  await settle();
  expect([chats.active.status, chats.active.error, heard]).toMatchObject([
    'error',
    { code: 'busy' },
    [{ code: 'busy' }],
  ]);
  await expect(chats.active.addToolOutput(give(4))).rejects.toMatchObject({ code: 'busy' });
  await exchange.answer('Rolling.');
  await page.chats.whenSettled();
  chats.active.clearError();
  await expect.poll(() => words(chats.active.messages)).toBe('q: Roll? | a: [dice input-available]/Rolling.');
  await chats.active.addToolOutput(give(4));
  expect([chats.active.status, await page.stored()]).toEqual([
    'ready',
    'q: Roll? | a: [dice output-available]/Rolling.',
  ]);
});

it('whose result was refused by the store still waits for it', async () => {
  await (await askForDice()).finish();
  await page.chats.whenSettled();
  const keep = page.engine.updateMessage.bind(page.engine);
  page.engine.updateMessage = () =>
    Promise.reject(new ContextError('head-moved', 'It was changed meanwhile.'));
  await expect(page.chats.active.addToolOutput(give(4))).rejects.toThrow('meanwhile');
  expect(page.shown()).toBe('q: Roll? | a: [dice input-available]');
  page.engine.updateMessage = keep;
  await page.chats.active.addToolOutput(give(4));
  expect(await page.stored()).toBe('q: Roll? | a: [dice output-available]');
});

it.each(['streams', 'was stopped'])(
  'that asks another branch is not held up by a call beside it, which a person answers while the answer %s',
  async (when) => {
    let ask = (): void => {};
    const asking = new Promise<void>((resolve) => (ask = resolve));
    page = await openPage(new InMemoryContextStore(), {
      onToolCall: async ({ toolCall }) => {
        if (toolCall.toolCallId !== 'call-2') return;
        await asking;
        await page.chats.get('main-v2')!.sendMessage({ text: 'Dice?' });
      },
    });
    await page.ask('Hi?', 'Hello.');
    await page.engine.btw();
    await page.engine.switchBranch('main');
    const main = page.chats.active;
    void main.sendMessage({ text: 'Roll?' });
    const exchange = await page.script.next();
    void exchange.send(...call('call-1').slice(0, 3), ...call('call-2').slice(2));
    await expect.poll(() => words(main.messages)).toMatch(/input-available.*input-available/);
    void main.addToolOutput(give(1));
    if (when === 'was stopped') void main.stop();
    await settle();
    ask();
    const aside = await page.script.next();
    expect(words(aside.sent.messages)).toBe('q: Hi? | a: Hello. | q: Dice?');
    await aside.answer('Two.');
    await page.chats.get('main-v2')!.whenSettled();
    expect(await page.stored('main-v2')).toBe('q: Hi? | a: Hello. | q: Dice? | a: Two.');
    await exchange.finish();
    await page.chats.whenSettled();
    expect(await page.stored()).toContain('q: Roll? | a: [dice output-available]/[dice input-available]');
  },
);

it('whose id was used before in its answer does not get what that one got, when one beside it is answered', async () => {
  page = await openPage(slowly(new InMemoryContextStore(), 1));
  const first = await page.begin('Roll?');
  await first.send(
    ...call('call-1').slice(0, 3),
    { type: 'tool-output-available', toolCallId: 'call-1', output: 1 },
    ...call('call-1').slice(1, 3),
    ...call('call-2').slice(2),
  );
  await first.finish();
  await page.chats.whenSettled();
  const aside = page.chats.get((await page.engine.btw()).name)!;
  await expect.poll(() => aside.messages.length, { interval: 1 }).toBe(2);
  const asked = aside.sendMessage();
  await page.chats.active.addToolOutput(give(2, 'call-2'));
  await (await page.script.next()).answer('So.');
  await asked;
  await page.chats.whenSettled();
  const saved = 'q: Roll? | a: [dice output-available]/[dice input-available]/[dice output-available]/So.';
  expect(await page.stored()).toBe(saved);
});

it('whose result finds no network has something left to say', async () => {
  await (await askForDice()).finish();
  await page.chats.active.addToolOutput(give(4));
  page.script.refuse(new TypeError('Failed to fetch'));
  await page.chats.active.sendMessage();
  expect(page.engine.status(page.chats.active.messages[1]!.id)).toBe('interrupted');
});

describe('the result of a tool that takes its time', () => {
  const list = (): UIMessage[] => page.chats.active.messages;
  const main = 'q: One? | a: First. | q: Roll? | a: [dice output-available]';

  beforeEach(async () => {
    await page.ask('One?', 'First.');
    await (await askForDice()).finish();
    await page.chats.whenSettled();
  });

  it.each<[string, () => Promise<void>]>([
    ['an edit', () => page.chats.active.sendMessage({ text: 'Un?', messageId: list()[0]!.id })],
    ['another try', () => page.chats.active.regenerate()],
    ['another try of an older answer', () => page.chats.active.regenerate({ messageId: list()[1]!.id })],
  ])('is saved on the node that called after %s', async (_, act) => {
    await page.script.answer(act(), 'Other.');
    await page.chats.active.addToolOutput(give(4));
    expect(await page.stored('main')).toBe(main);
    expect(page.shown()).toBe(await page.stored(page.engine.branch));
  });

  it('is saved on the node that called when its branch was hidden for more than a minute', async () => {
    // The clock goes on by itself, so that no timer that is set late in the switch keeps it waiting.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
    await page.engine.rewind(list()[0]!.id);
    await vi.advanceTimersByTimeAsync(61_000);
    vi.useRealTimers();
    await page.chats.active.addToolOutput(give(4));
    expect(await page.stored('main')).toBe(main);
  });

  it('is saved on the node that called when that is not loaded any more', async () => {
    await say(page.engine, ...Array.from({ length: 100 }, (_, i) => [`q${i}`, `a${i}`]).flat());
    const later = await openPage(page.store);
    expect(later.shown()).not.toContain('dice');
    await later.chats.active.addToolOutput(give(4));
    expect(await page.stored('main')).toContain(main);
  });

  it('that nobody asked for changes nothing', async () => {
    await page.chats.active.addToolOutput(give(4, 'call-2'));
    expect(await page.stored('main')).toContain('[dice input-available]');
    expect(page.chats.active.status).toBe('ready');
  });
});

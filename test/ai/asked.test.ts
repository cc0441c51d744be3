import type { UIMessageChunk } from 'ai';
import { describe, expect, it } from 'vitest';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { settle, type Exchange } from '../support/transport.ts';
import { mortal } from './person.ts';
import { afterReload, changed, openPage, SDK, type Page } from './story.ts';

/**
 * What an answer asks of a person is on the disk when it can be seen: whoever reloads the page in that very moment, and
 * finds the question half written, would have no button to press.
 */

const call = (toolCallId: string): UIMessageChunk => ({
  type: 'tool-input-available',
  toolCallId,
  toolName: 'dice',
  input: { sides: 6 },
});
const leave: UIMessageChunk = { type: 'tool-approval-request', approvalId: 'ok?', toolCallId: 't1' };
const START: UIMessageChunk[] = [{ type: 'start' }, { type: 'start-step' }];

/** How long a write takes, in ms. */
const PAUSE = 10;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function slow(store: ContextStore): ContextStore {
  return changed(store, {
    append: async (...args) => pause(PAUSE).then(() => store.append(...args)),
    saveDraft: async (...args) => pause(PAUSE).then(() => store.saveDraft(...args)),
  });
}

async function ask(page: Page): Promise<Exchange> {
  void page.chats.active.sendMessage({ text: 'Roll?' });
  return page.script.next();
}

const QUESTIONS: [string, UIMessageChunk[], string][] = [
  ['a call that the page answers', [call('t1')], 'q: Roll? | a: [dice input-available]'],
];
if (SDK > 5)
  QUESTIONS.push([
    'a call that asks for leave',
    [call('t1'), leave],
    'q: Roll? | a: [dice approval-requested]',
  ]);

describe.each(QUESTIONS)('%s', (_name, chunks, asked) => {
  it('is there again after a reload, at whatever moment', async () => {
    const found: string[] = [];
    let unseen = 0;
    // On a busy machine it takes longer until it shows, so the moments go on until it did.
    for (let moment = 0; moment < 6 * PAUSE || found.length === 0; moment += 2) {
      const data = new InMemoryContextStore();
      const { store, kill } = mortal(slow(data));
      const page = await openPage(store);
      const exchange = await ask(page);
      void exchange.send(...START, ...chunks);
      await pause(moment);
      const isSeen = page.shown() === asked;
      kill();
      const next = await openPage(afterReload(data));
      if (isSeen) found.push(next.shown());
      else unseen += 1;
    }
    expect(new Set(found)).toEqual(new Set([asked]));
    expect(unseen).toBeGreaterThan(0);
  });

  it('is on the disk before anyone is told of it', async () => {
    const data = new InMemoryContextStore();
    const page = await openPage(slow(data));
    const told: Promise<string>[] = [];
    const listen = page.chats.active['~registerMessagesCallback'];
    const stop = listen(() => {
      if (page.shown() === asked) told.push(page.stored());
    });
    const exchange = await ask(page);
    await exchange.send(...START, ...chunks);
    await expect.poll(() => page.shown()).toBe(asked);
    expect([...new Set(await Promise.all(told))]).toEqual([asked]);
    stop();
  });

  it.each<[string, () => Promise<never>]>([
    ['refuses', () => Promise.reject(new Error('full'))],
    ['does not answer', () => new Promise(() => {})],
  ])('shows all the same on a disk that %s', async (_how, saveDraft) => {
    const data = new InMemoryContextStore();
    const page = await openPage(changed(data, { saveDraft }));
    const exchange = await ask(page);
    await exchange.send(...START, ...chunks);
    await expect.poll(() => page.shown(), { timeout: 5000 }).toBe(asked);
  });
});

it('a result that is given while another call is about to show is kept, and so is that call', async () => {
  for (let moment = 0; moment < 3 * PAUSE; moment += 2) {
    const page = await openPage(slow(new InMemoryContextStore()));
    const exchange = await ask(page);
    await exchange.send(...START, call('t1'));
    await expect.poll(() => page.shown()).toBe('q: Roll? | a: [dice input-available]');
    void exchange.send(call('t2'));
    await pause(moment);
    await page.chats.active.addToolOutput({ tool: 'dice', toolCallId: 't1', output: 6 });
    expect(await page.stored()).toContain('[dice output-available]');
    await expect
      .poll(() => page.stored())
      .toBe('q: Roll? | a: [dice output-available]/[dice input-available]');
    expect(page.shown()).toBe(await page.stored());
  }
});

it('a call that a server carries out itself waits for no disk', async () => {
  const page = await openPage(
    changed(new InMemoryContextStore(), { saveDraft: () => new Promise(() => {}) }),
  );
  const exchange = await ask(page);
  const own = { ...call('t1'), providerExecuted: true } as UIMessageChunk;
  await exchange.send(...START, own);
  await settle();
  expect(page.shown()).toBe('q: Roll? | a: [dice input-available]');
});

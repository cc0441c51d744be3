import type { UIMessageChunk } from 'ai';
import { describe, expect, it } from 'vitest';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { settle } from '../support/transport.ts';
import { changed, openPage, SDK } from './story.ts';

/**
 * A tool call or an approval request is on the disk before it can be seen: a person who reloads the page in that moment would
 * otherwise find half of it, without a button to press.
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
    commit: async (...args) => pause(PAUSE).then(() => store.commit(...args)),
    saveDraft: async (...args) => pause(PAUSE).then(() => store.saveDraft(...args)),
  });
}

const QUESTIONS: [string, UIMessageChunk[], string][] = [
  ['a call that the page answers', [call('t1')], 'q: Roll? | a: [dice input-available]'],
  ['a call that asks for leave', [call('t1'), leave], 'q: Roll? | a: [dice approval-requested]'],
];

describe.each(QUESTIONS.slice(0, SDK > 5 ? 2 : 1))('%s', (_name, chunks, asked) => {
  it('is on the disk before anyone is told of it', async () => {
    const data = new InMemoryContextStore();
    const page = await openPage(slow(data));
    const told: Promise<string>[] = [];
    const listen = page.chats.active['~registerMessagesCallback'];
    const stop = listen(() => {
      if (page.shown() === asked) told.push(page.stored());
    });
    const exchange = await page.begin('Roll?');
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
    const exchange = await page.begin('Roll?');
    await exchange.send(...START, ...chunks);
    await expect.poll(() => page.shown(), { timeout: 5000 }).toBe(asked);
  });
});

it('a call that a server carries out itself waits for no disk', async () => {
  const page = await openPage(
    changed(new InMemoryContextStore(), { saveDraft: () => new Promise(() => {}) }),
  );
  const exchange = await page.begin('Roll?');
  const own = { ...call('t1'), providerExecuted: true } as UIMessageChunk;
  await exchange.send(...START, own);
  await settle();
  expect(page.shown()).toBe('q: Roll? | a: [dice input-available]');
});

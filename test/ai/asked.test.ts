import type { UIMessageChunk } from 'ai';
import { expect, it } from 'vitest';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { afterReload, changed, openPage, SDK } from './story.ts';

const call: UIMessageChunk = {
  type: 'tool-input-available',
  toolCallId: 't1',
  toolName: 'dice',
  input: { sides: 6 },
};
const leave: UIMessageChunk = { type: 'tool-approval-request', approvalId: 'ok?', toolCallId: 't1' };
const START: UIMessageChunk[] = [{ type: 'start' }, { type: 'start-step' }];

const QUESTIONS: [string, UIMessageChunk[], string][] = [
  ['a call that the page answers', [call], 'q: Roll? | a: [dice input-available]'],
  ['a call that asks for leave', [call, leave], 'q: Roll? | a: [dice approval-requested]'],
];

it.each(QUESTIONS.slice(0, SDK > 5 ? 2 : 1))(
  '%s is durable as soon as it shows: a person who reloads the page finds its button',
  async (_name, chunks, asked) => {
    const store = new InMemoryContextStore();
    const isDurable: unknown[] = [];
    const saveDraft: typeof store.saveDraft = (chatId, draft, options) => {
      isDurable.push(options?.isDurable);
      return store.saveDraft(chatId, draft, options);
    };
    const page = await openPage(changed(store, { saveDraft }));
    await (await page.begin('Roll?')).send(...START, ...chunks);
    await expect.poll(() => page.stored()).toBe(asked);
    expect(isDurable.at(-1)).toBe(true);
    expect((await openPage(afterReload(store))).shown()).toBe(asked);
  },
);

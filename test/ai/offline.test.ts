import { expect, it, vi } from 'vitest';
import { openPage } from './story.ts';

vi.mock('../../src/ai/more.ts', () => {
  throw new TypeError('Failed to fetch dynamically imported module');
});

it('says that an answer grows, also where the network is gone before the first answer is complete', async () => {
  const page = await openPage(undefined, { onBusy: 'reject' });
  const { active: chat } = page.chats;
  const answer = await page.begin('One?', 'Fir');
  await expect(chat.sendMessage({ text: 'Two?' })).rejects.toMatchObject({ code: 'busy' });
  await answer.finish();
  expect(await page.saved()).toBe('q: One? | a: Fir');
});

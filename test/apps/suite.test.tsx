import { expect, it } from 'vitest';
import { openPage } from '../ai/story.ts';

// By default `openPage` opens chats without a component; these tests make sure that the suite did not quietly do so.

it('the stories of test/ai are told of the app', async () => {
  const page = await openPage();
  await page.ask('One?', 'First.');
  const items = [...document.querySelectorAll('main li')].map(({ textContent }) => textContent);
  expect(items).toEqual(['One?EditDelete', 'First.Delete']);
  expect(page.shown()).toBe('q: One? | a: First.');
  // A hook's verb, not a chat's.
  expect(Reflect.get(page.chats.active, 'setMessages')).toBeTypeOf('function');
});

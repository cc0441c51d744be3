import { DefaultChatTransport, TextStreamChatTransport } from 'ai';
import { role } from 'contextree';
import { expect, test } from 'vitest';
import { openPage, type Page } from '../ai/story.ts';

// A page that asks a server: what test/ai/http.test.ts tells of Node's fetch, in short, of the one of a browser. The server
// is test/support/chatServer.ts.

/** A page whose questions go to a path of the server. */
async function pageAt(path: string): Promise<Page> {
  const page = await openPage();
  page.chats.configure({ transport: new DefaultChatTransport({ api: `/chat/${path}` }) });
  return page;
}

const growing = async (): Promise<number> => Number(await (await fetch('/chat/growing')).text());

test('what is asked arrives with the prompt and the conversation, and what is answered is saved', async () => {
  const page = await pageAt('answer');
  page.engine.set(role('Be brief.'));
  await page.chats.active.sendMessage({ text: 'One?' });
  await page.chats.active.sendMessage({ text: 'Two?' });
  const prompt = '"<role>Be brief.</role>"';
  expect(await page.stored()).toBe(
    `q: One? | a: 1 messages and ${prompt} | q: Two? | a: 3 messages and ${prompt}`,
  );
});

test('an answer that is stopped keeps its words, and the server hears of it', async () => {
  const page = await pageAt('endless');
  const sent = page.chats.active.sendMessage({ text: 'One?' });
  await expect.poll(() => page.shown(), { timeout: 15_000 }).toContain('word word');
  expect(await growing()).toBe(1);
  await page.chats.active.stop();
  await sent;
  expect(await page.stored()).toBe(page.shown());
  expect(page.engine.status(page.chats.active.messages[1]?.id ?? '')).toBe('interrupted');
  await expect.poll(growing, { timeout: 15_000 }).toBe(0);
});

test.each([
  ['cut', 'q: One? | a: Fir', /network/i],
  ['garbled', 'q: One? | a: Fir', /^The answer could not be read/],
  ['refused', 'q: One?', /Slow down\./],
  ['nowhere', 'q: One?', /./],
])('a server that is %s is told, keeps what there was, and is asked again', async (path, kept, told) => {
  const page = await pageAt(path);
  const sent = page.chats.active.sendMessage({ text: 'One?' });
  await expect.poll(() => page.shown(), { timeout: 15_000 }).toBe(kept);
  await fetch('/chat/cut-now');
  await sent;
  await page.chats.whenSettled();
  expect(page.chats.active.status).toBe('error');
  expect(page.chats.active.error?.message).toMatch(told);
  expect(await page.stored()).toBe(kept);
  page.chats.configure({ transport: new TextStreamChatTransport({ api: '/chat/text' }) });
  await page.chats.active.regenerate();
  expect(page.shown()).toBe('q: One? | a: Just words.');
});

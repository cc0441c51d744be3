import 'ai';
import { describe, expect, test, vi } from 'vitest';
import { reminder, stripReminders } from '../../src/reminders.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { branchesIn } from '../support/engine.ts';
import { afterReload, openPage, words, type Page } from './story.ts';

/** What the last request carries, with `+note` for a reminder. */
const sent = ({ script }: Page): string => short(words(script.requests.at(-1)!.sent.messages));
const short = (text: string): string =>
  text.replaceAll(/\s*<system-reminder>(.*?)<\/system-reminder>/g, '+$1');
const branches = async ({ store }: Page): Promise<string[]> => Object.keys(await branchesIn(store));

/** A page whose reminder counts how often it was asked. */
async function reminded(store = new InMemoryContextStore()): Promise<Page> {
  let times = 0;
  const page = await openPage(store);
  page.engine.set(reminder(() => `note${(times += 1)}`));
  return page;
}

describe('reminders in a chat', () => {
  test('go with the request and are stored, and the list shows what the person wrote', async () => {
    const page = await reminded();
    await page.ask('hello', 'hi');
    await page.ask('and?', 'so');
    expect(sent(page)).toBe('q: hello+note1 | a: hi | q: and?+note2');
    expect(page.shown()).toBe('q: hello | a: hi | q: and? | a: so');
    expect(short(await page.stored())).toBe('q: hello+note1 | a: hi | q: and?+note2 | a: so');
    expect(await branches(page)).toEqual(['main']);
  });

  test('are not asked again by another try, and are by another question', async () => {
    const page = await reminded();
    await page.ask('hello', 'hi');
    await page.script.answer(page.chats.active.regenerate(), 'ho');
    expect(sent(page)).toBe('q: hello+note1');
    const [question] = page.chats.active.messages;
    await page.reword(question!.id, 'goodbye', 'bye');
    expect(sent(page)).toBe('q: goodbye+note2');
    expect(page.shown()).toBe('q: goodbye | a: bye');
    expect(await branches(page)).toEqual(['main', 'main-v2', 'main-v3']);
  });

  test('do not make a list fork that was stripped for display after a reload', async () => {
    const before = await reminded();
    await before.ask('hello', 'hi');
    const page = await reminded(afterReload(before.store) as InMemoryContextStore);
    const { active } = page.chats;
    await vi.waitFor(() => expect(short(page.shown())).toBe('q: hello+note1 | a: hi'));
    active.messages = active.messages.map(stripReminders);
    await page.ask('and?', 'so');
    expect(page.shown()).toBe('q: hello | a: hi | q: and? | a: so');
    expect(await branches(page)).toEqual(['main']);
    // Edited in the list itself, with the marks of the old words: they are taken off.
    const marked = (await page.engine.resolve()).messages[0]!;
    active.messages = [{ ...marked, parts: [{ type: 'text', text: 'hello you' }] }];
    await page.script.answer(active.regenerate(), 'yes');
    expect(sent(page)).toMatch(/^q: hello you\+note\d$/);
  });
});

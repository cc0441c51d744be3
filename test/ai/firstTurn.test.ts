import { describe, expect, it, vi } from 'vitest';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { openPage, type Page } from './story.ts';

/** Two pages on an unsaved chat: each is about to make a `main`, and only one will be. */
async function twoPages(): Promise<readonly [Page, Page]> {
  const store = new InMemoryContextStore();
  return [await openPage(store), await openPage(store)];
}

describe('a page that is not the first to write to a new chat', () => {
  it('keeps its chat, which shows what the first one says', async () => {
    const [one, two] = await twoPages();
    const chat = two.chats.active;
    await one.ask('One?', 'First.');
    await vi.waitFor(() => expect(two.shown()).toBe('q: One? | a: First.'));
    expect(two.chats.active).toBe(chat);
    await two.ask('Two?', 'Second.');
    expect(await one.stored()).toBe('q: One? | a: First. | q: Two? | a: Second.');
  });

  it('loses no question that it asks before it knows, and shows it all the time', async () => {
    const [one, two] = await twoPages();
    const chat = two.chats.active;
    const sent = chat.sendMessage({ text: 'Two?' });
    await one.ask('One?', 'First.');
    await (await two.script.next()).answer('Second.');
    await sent;
    expect(two.chats.active).toBe(chat);
    expect(two.shown()).toContain('q: Two? | a: Second.');
    const branches = await two.store.listBranches('c');
    const stored = await Promise.all(branches.map(({ name }) => two.stored(name)));
    expect(stored.join('\n')).toMatch(/q: One\? \| a: First\./);
    expect(stored.join('\n')).toMatch(/q: Two\? \| a: Second\./);
  });
});

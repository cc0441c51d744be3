import { InMemoryContextStore } from 'contextree';
import { beforeEach, expect, test, vi } from 'vitest';
import {
  chatWasSent,
  editedText,
  forgetWords,
  isNewChat,
  keepEditedText,
  keepSentText,
  keepUnsentText,
  sideOf,
  takeLostText,
  takeUnsentText,
  typedText,
  unsentChat,
  unsentText,
} from '../../stories/demo/unsent.ts';
import type * as UnsentFiles from '../../stories/demo/unsentFiles.ts';

beforeEach(() => {
  sessionStorage.clear();
  localStorage.clear();
});

test('so does one whose id has half a character, which an address can not tell', () => {
  keepUnsentText('\ud800', 'half');
  keepSentText('\ud800', 'm1', 'sent');
  keepEditedText('\ud800', 'm1', 'edited');
  keepUnsentText('\udfff', 'another half');
  expect(unsentText('\ud800')).toBe('sent\n\nhalf');
  expect(editedText('\ud800', 'm1')).toBe('edited');
});

test('a tab has one unsent chat, until it is sent', () => {
  let made = 0;
  const create = (): string => `new-${++made}`;
  expect([unsentChat(create), unsentChat(create)]).toEqual(['new-1', 'new-1']);
  expect(isNewChat('new-1')).toBe(true);
  chatWasSent('new-1');
  expect(isNewChat('new-1')).toBe(false);
  expect(unsentChat(create)).toBe('new-2');
});

test('a browser that stores nothing still keeps the words of this page', () => {
  const refuse = vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new DOMException('full', 'QuotaExceededError');
  });
  keepUnsentText('a', 'still here');
  expect(unsentText('a')).toBe('still here');
  keepUnsentText('a', '');
  expect(unsentText('a')).toBe('');
  refuse.mockRestore();
});

test('all words that were sent and never saved come back in order, and saved ones go alone', () => {
  keepSentText('a', 'm1', 'first');
  const forget = keepSentText('a', 'm2', 'second');
  keepSentText('a', 'm3', 'third');
  forget();
  expect(takeUnsentText('a')).toBe('first\n\nthird');
});

test('words that are taken once are not there a second time', async () => {
  keepUnsentText('a', 'once');
  await expect.poll(() => localStorage.length).toBe(1);
  expect([takeUnsentText('a'), takeUnsentText('a')]).toEqual(['once', '']);
});

test('after a reload, words come back only where their message was lost', () => {
  keepUnsentText('a', 'newer');
  for (const id of ['saved', 'lost', 'going', 'gone']) keepSentText('a', id, `words of ${id}`);
  const fateOf = (id: string) => (id === 'saved' ? 'saved' : id === 'going' ? 'on its way' : 'lost');
  expect(takeLostText('a', fateOf)).toBe('words of lost\n\nwords of gone');
  expect(takeLostText('a', fateOf)).toBe('');
  expect(typedText('a')).toBe('newer');
  // What is on its way is forgotten by the one who sends it.
  expect(unsentText('a')).toBe('words of going\n\nnewer');
});

test('words that a browser refused to store are forgotten with their chat, too', () => {
  const refuse = vi.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
    throw new DOMException('full', 'QuotaExceededError');
  });
  keepEditedText('a', 'm', 'edited');
  forgetWords('a');
  expect(editedText('a', 'm')).toBe('');
  refuse.mockRestore();
});

test('the place of a side question is forgotten with its chat, and comes back with it', () => {
  localStorage.setItem(sideOf('a'), 'key:m');
  const bringBack = forgetWords('a');
  expect(localStorage.getItem(sideOf('a'))).toBeNull();
  bringBack();
  expect(localStorage.getItem(sideOf('a'))).toBe('key:m');
});

test('files of a chat that another tab deletes can still go on here, and come back with the chat there', async () => {
  const store = new InMemoryContextStore();
  const open = async (): Promise<typeof UnsentFiles> => {
    vi.resetModules();
    sessionStorage.clear();
    const tab = await import('../../stories/demo/unsentFiles.ts');
    await tab.adoptFiles(store, 'a');
    return tab;
  };
  const [mine, theirs] = [await open(), await open()];
  for (const [tab, filename] of [
    [mine, 'mine'],
    [theirs, 'theirs'],
  ] as const)
    await tab.changeUnsentFiles(store, 'a', () =>
      tab.unsent([{ type: 'file', mediaType: 'text/plain', filename, url: 'data:,' }]),
    );
  const names = async (tab: typeof mine): Promise<unknown[]> =>
    (await tab.takeUnsentFiles(store, 'a')).map(({ part }) => part.filename);

  const bringBack = await theirs.forgetFiles(store, 'a');
  expect(localStorage.length).toBe(0);
  expect(await names(mine)).toEqual(['mine']);
  await bringBack();
  expect(await names(theirs)).toEqual(['theirs']);
  const next = await open();
  expect(await names(next)).toEqual(['mine']);
});

import { beforeEach, expect, test, vi } from 'vitest';
import {
  chatWasSent,
  isUnsentChat,
  keepSentText,
  keepUnsentText,
  takeUnsentText,
  unsentChat,
  unsentText,
} from '../../stories/demo/unsent.ts';

beforeEach(() => {
  sessionStorage.clear();
  localStorage.clear();
});

test('each chat keeps its own unsent words', () => {
  keepUnsentText('a', 'half a');
  keepUnsentText('b', 'half b');
  expect([unsentText('a'), unsentText('b'), unsentText('c')]).toEqual(['half a', 'half b', '']);
});

test('a tab goes before what another tab wrote on the same chat', () => {
  keepUnsentText('a', 'mine');
  localStorage.setItem('demo:unsent:a', 'theirs');
  expect(unsentText('a')).toBe('mine');
});

test('words outlive the tab', () => {
  keepUnsentText('a', 'kept');
  sessionStorage.clear();
  expect(unsentText('a')).toBe('kept');
});

test('sent words are forgotten everywhere', () => {
  keepUnsentText('a', 'sent');
  keepUnsentText('a', '');
  expect([sessionStorage.length, localStorage.length]).toEqual([0, 0]);
});

test('a tab has one unsent chat, until it is sent', () => {
  let made = 0;
  const create = (): string => `new-${++made}`;
  expect([unsentChat(create), unsentChat(create)]).toEqual(['new-1', 'new-1']);
  expect(isUnsentChat('new-1')).toBe(true);
  chatWasSent('new-1');
  expect(isUnsentChat('new-1')).toBe(false);
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

test('words that were sent and never saved are unsent again, before newer ones', () => {
  keepSentText('a', 'sent');
  keepUnsentText('a', 'newer');
  expect(takeUnsentText('a')).toBe('sent\n\nnewer');
  expect([sessionStorage.length, localStorage.length]).toEqual([0, 0]);
});

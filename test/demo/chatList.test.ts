import type { ChatRow } from 'contextree';
import { expect, test } from 'vitest';
import { byDay } from '../../stories/demo/chats/days.ts';
import { piecesOf } from '../../stories/demo/chats/useChatSearch.ts';

const chat = (updatedAt: Date): ChatRow => ({
  id: updatedAt.toISOString(),
  userId: 'local',
  title: undefined,
  metadata: undefined,
  messageCount: 1,
  branchCount: 1,
  createdAt: 0,
  updatedAt: updatedAt.getTime(),
});

test('chats stand under the day of their last word, by the clock of the person', () => {
  const now = new Date(2026, 10, 26, 0, 30).getTime();
  const dates = [
    new Date(2026, 10, 26, 0, 5),
    new Date(2026, 10, 25, 23, 59),
    new Date(2026, 10, 25, 0, 1),
    new Date(2026, 10, 19, 12),
    new Date(2026, 10, 1),
    new Date(2026, 8, 3),
    new Date(2026, 8, 1),
    new Date(2025, 8, 1),
  ];
  const days = byDay(dates.map(chat), now);
  expect(days.map(({ name, chats }) => [name, chats.length])).toEqual([
    ['Today', 1],
    ['Yesterday', 2],
    ['Last seven days', 1],
    ['Last thirty days', 1],
    ['September 2026', 2],
    ['September 2025', 1],
  ]);
});

test('a snippet is read as the text that it was', () => {
  expect(piecesOf('&lt;b&gt; &amp;amp; <mark>it&#39;s</mark> here')).toEqual([
    { text: '<b> &amp; ', isHit: false },
    { text: "it's", isHit: true },
    { text: ' here', isHit: false },
  ]);
});

test('a snippet begins near its hit, so that a row of two lines shows it', () => {
  expect(
    piecesOf('…without it. Reload the page whenever you want; what we said is <mark>kept</mark> in'),
  ).toEqual([
    { text: '…want; what we said is ', isHit: false },
    { text: 'kept', isHit: true },
    { text: ' in', isHit: false },
  ]);
});

import type { UIMessage } from 'ai';
import type { StoreDelta } from 'contextree/store';
import { ASIDE } from './conversation/useFork.ts';
import { FIRST, firstKey, FLAG, uuid } from './firstKeys.ts';
import { USER } from './shell/Workspace.ts';

/**
 * The chat that a first visit opens on: a small tree, finished, with something of everything in it. One question with
 * three answers, a slogan and a flag, a sign that was edited, and a question aside.
 *
 * It is written as records with fixed keys, in one transaction, and not said through an engine: the first page must not
 * wait for it. Each message has the sum of its body, as an engine would have noted it; a test holds the two together.
 */
export function firstChat(now: number): StoreDelta {
  const from = { rev: 1, by: uuid(0), chat: uuid(100) };
  const mark = (id: string, value: unknown) => ({ id, value, ...from });
  return {
    messages: said.map(([parent, text, sum], i) => {
      const role = isQuestion(parent) ? 'user' : 'assistant';
      const id = `coffee-${i + 1}`;
      const isAside = i + 1 === FIRST.aside;
      const body: UIMessage = {
        id,
        role,
        parts: [{ type: 'text', text }],
        ...(isAside && { metadata: ASIDE }),
      };
      const line = text.replaceAll('\n', ' ');
      const preview = line.length > 50 ? `${line.slice(0, 50)}...` : line;
      const { rev, by, chat } = from;
      return {
        key: firstKey(i + 1),
        id,
        parent: parent === 0 ? null : firstKey(parent),
        role,
        at: 10 * (i + 1),
        createdAt: now,
        chat,
        versions: [{ rev, by, status: 'complete' as const, sum, parts: 1, preview, body }],
      };
    }),
    ends: ends.map((end, i) => ({
      id: uuid(101 + i),
      at: 10 * end + 1,
      createdAt: now,
      chat: from.chat,
      keys: [firstKey(end)],
    })),
    marks: [
      mark(`beginning ${from.chat}`, { userId: USER, createdAt: now }),
      mark('title', 'A name for a coffee cart'),
      mark('field titled', 'question'),
      mark(`checkpoint ${uuid(200)}`, {
        name: FLAG,
        key: firstKey(FIRST.slogan),
        createdAt: now,
        at: 10 * FIRST.slogan + 2,
      }),
      ...ends.flatMap((end, i) =>
        i === 0 ? [] : [mark(`name ${uuid(101 + i)} ${firstKey(end)}`, { name: `main-v${i + 1}` })],
      ),
    ],
    local: { view: { used: [firstKey(FIRST.sign)], record: uuid(104) } },
  };
}

/** What was said, and behind which message (by number, from 1; 0 for none), with the sum of its body. */
const said: readonly (readonly [parent: number, text: string, sum: string])[] = [
  [0, 'Suggest a name for my coffee cart.', 'AlbCrl'],
  [1, '**Second Cup**: people come back.', 'mzf9Wp'],
  [1, '**The Fork**: it stands where two streets part.', 'UYkdWH'],
  [1, '**Slow Drip**: good things take four minutes.', 'QuOgwV'],
  [3, 'Write a slogan for it.', 'q124OJ'],
  [5, 'Same street, another way.', 'XVkPnB'],
  [6, 'Make a sign for the cart.', 'j6JTq8'],
  [7, '**The Fork**\n\n*Same street, another way.*\n\nEspresso, flat white, slow drip', '5-Emn2'],
  [6, 'Make a sign with prices.', 'a6NpBr'],
  [
    9,
    '**The Fork**: same street, another way.\n\n| Coffee | Price |\n| --- | ---: |\n| Espresso | 2.20 |\n| Flat white | 3.00 |\n| Slow drip | 3.50 |',
    'xzBiZI',
  ],
  [6, 'How many cups does a kilo of beans make?', 'pa3LCm'],
  [11, 'About 62, at 16 g a cup.', 'OoyGzh'],
];

/** With which messages its branches end. */
const ends = [2, 4, 8, 10, 12] as const;

/** A question stands at the beginning, or behind an answer. */
function isQuestion(parent: number): boolean {
  return parent === 0 || !isQuestion((said[parent - 1] as (typeof said)[number])[0]);
}

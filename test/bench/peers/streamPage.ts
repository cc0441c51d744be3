import { bytesOf, handedBy, written } from './handed.ts';
import {
  externalCore,
  externalStore,
  oneText,
  ours,
  plain,
  tanstack,
  type Chat,
  type Open,
} from './streamChats.tsx';

/** What a page does for `stream.ts`: streams the same words into all chats, in turns, and tells what that costs. */
interface Side {
  readonly open: Open;
  /** Takes part in one of so many rounds: who rewrites ten megabytes with each word is felt by who comes next. */
  readonly every: number;
}

const TIMED: Readonly<Record<string, Side>> = {
  'contextree, the last 200 in the list': { open: ours('the last'), every: 1 },
  'contextree, all in the list': { open: ours('all'), every: 1 },
  'plain `useChat`, which keeps nothing': { open: plain, every: 1 },
  'assistant-ui, external store alone': { open: externalCore, every: 1 },
  'assistant-ui, external store and its React hooks': { open: externalStore, every: 2 },
  'one JSON text': { open: oneText, every: 4 },
};

/** Milliseconds of the page's thread for one word, by side and length of the chat; one for each answer. */
export type Timed = Readonly<Record<string, Readonly<Record<number, readonly number[]>>>>;

/** Streams answers of so many words into chats of these lengths. */
export async function timed(lengths: readonly number[], words: number, rounds: number): Promise<Timed> {
  const times: Record<string, Record<number, number[]>> = {};
  const chats: { readonly own: number[]; readonly every: number; readonly chat: Chat }[] = [];
  for (const [name, { open, every }] of Object.entries(TIMED))
    for (const length of lengths) {
      const own: number[] = ((times[name] ??= {})[length] = []);
      chats.push({ own, every, chat: await open(length) });
    }
  for (const { chat } of chats) await streamed(chat, words);
  for (let round = 0; round < rounds; round += 1)
    for (const { own, every, chat } of chats) if (round % every === 0) own.push(await streamed(chat, words));
  return times;
}

/** How long words are streamed, in ms, where they take so long that they would not come to an end. */
const LIMIT = 1000;

/** The time of a word. Words come when the one before them is shown; nobody's garbage is left, and nobody writes. */
async function streamed(chat: Chat, words: number): Promise<number> {
  await chat.ask();
  await collectGarbage();
  const [before, start] = [await threadTime(), performance.now()];
  let word = 0;
  for (; word < words && performance.now() - start < LIMIT; word += 1) await chat.say(`word-${word} `);
  const took = (await threadTime()) - before;
  await chat.end();
  await written();
  return (took * 1000) / word;
}

const KEEPERS: Readonly<Record<string, Open>> = {
  contextree: ours('the last'),
  'TanStack AI, `indexedDBPersistence`': tanstack,
  'one JSON text': oneText,
};

/** What an answer had handed to IndexedDB, and its own bytes. */
export interface Answered {
  readonly handed: number;
  readonly records: number;
  readonly own: number;
}

/** By side, for an answer of so many words in a chat of so many messages, with so many ms between words. */
export async function answered(
  length: number,
  words: number,
  pause: number,
): Promise<Readonly<Record<string, Answered>>> {
  const answers: Record<string, Answered> = {};
  for (const [name, open] of Object.entries(KEEPERS)) {
    const chat = await open(length);
    await written();
    const { bytes, records } = await handedBy(() => spoken(chat, words, pause));
    answers[name] = { handed: bytes, records, own: bytesOf(chat.answer()) };
  }
  return answers;
}

async function spoken(chat: Chat, words: number, pause: number): Promise<void> {
  await chat.ask();
  for (let word = 0; word < words; word += 1) {
    await chat.say(`word-${word} `);
    if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
  }
  await chat.end();
}

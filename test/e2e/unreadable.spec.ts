import { readFile, rm, writeFile } from 'node:fs/promises';
import { expect } from '@playwright/test';
import type * as Contextree from '../../src/core.ts';
import { Profile } from './profile.ts';
import { test } from './test.ts';

declare const contextree: typeof Contextree;
declare const wordsOf: (id: string, length?: number) => string;

// Chromium keeps each value of more than 64 KiB in a file of its own. Here some of these files are lost or spoilt while
// the browser does not run: the words of whole blocks of messages, a long message, an attachment, a value of the app.

/** What becomes of the file in which an id or a text is. */
const HARM: readonly (readonly [found: string, harm: (file: string, bytes: Buffer) => Promise<void>])[] = [
  ['"id":"m70"', (file) => rm(file)],
  ['"id":"m130"', (file) => writeFile(file, '')],
  ['"id":"m200"', (file, bytes) => writeFile(file, bytes.subarray(0, 1000))],
  ['"id":"m260"', (file, bytes) => writeFile(file, garbled(bytes, 0))],
  // The words of one message: a quotation mark in place of a "w" ends them too early.
  ['"id":"m330"', (file, bytes) => writeFile(file, garbled(bytes, bytes.indexOf('w', 50_000)))],
  // The same with one letter in place of another: they can still be read, and are not what was written.
  ['"id":"m400"', (file, bytes) => writeFile(file, bytes.with(bytes.indexOf('w', 50_000), 0x76))],
  ['"id":"long"', (file) => rm(file)],
  ['the picture', (file) => rm(file)],
  ['the value', (file, bytes) => writeFile(file, bytes.subarray(1))],
];

function garbled(bytes: Buffer, from: number): Buffer {
  return Buffer.from(bytes.map((byte, at) => (at >= from && at < from + 20 ? byte ^ 0x55 : byte)));
}

function ids(letter: string, from: number, to: number): string[] {
  return Array.from({ length: to - from }, (_, i) => `${letter}${from + i}`);
}

/** Words that nothing makes shorter, the same ones for the same id. */
function tellWords(): void {
  const words = (id: string, length = 1700): string => {
    let state = id.split('').reduce((sum, letter) => Math.imul(sum, 31) + (letter.codePointAt(0) ?? 0), 7);
    const letters = Array.from({ length }, () => {
      state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5;
      return ((state >>> 8) % 36).toString(36);
    });
    return `${id} ${letters.join('')}`;
  };
  Object.assign(globalThis, { wordsOf: words });
}

/** A chat whose blocks take more than 64 KiB each, and what else can be that large; and another chat. */
async function fill(): Promise<void> {
  const store = new contextree.IndexedDBContextStore('large');
  for (const [chatId, count] of [
    ['c', 520],
    ['other', 3],
  ] as const) {
    const engine = new contextree.ContextEngine({ store, chatId, userId: 'me' });
    for (let i = 0; i < count; i += 1) engine.set(contextree.user(wordsOf(`m${i}`), { id: `m${i}` }));
    if (chatId === 'c') {
      const url = `data:image/png;base64,${btoa(wordsOf('the picture', 100_000))}`;
      const file = { type: 'file', mediaType: 'image/png', filename: 'a.png', url } as const;
      engine.set(contextree.user(wordsOf('long', 100_000), { id: 'long' }));
      engine.set(contextree.user({ id: 'picture', role: 'user', parts: [file] }));
    }
    await engine.save();
    await engine.checkpoint('the end');
  }
  await store.set('unsent', wordsOf('the value', 100_000));
  await store.close();
}

/** The messages of the chat whose words are not those that were written, what is found wrong with it, and the rest. */
async function look() {
  const store = new contextree.IndexedDBContextStore('large');
  const engine = new contextree.ContextEngine({ store, chatId: 'c', userId: 'me' });
  const chain = await store.getMessages('c');
  const texts = chain.map(({ id, data }) => {
    const [part] = data.parts;
    return [id, part?.type === 'text' ? part.text : (part?.type ?? '')] as const;
  });
  const told = {
    ids: texts.map(([id]) => id),
    lost: texts.filter(([, text]) => text === '').map(([id]) => id),
    others: texts.filter(([id, text]) => text !== '' && text !== wordsOf(id, id === 'long' ? 100_000 : 1700)),
    value: (await store.get<string>('unsent'))?.length,
    resolved: (await engine.resolve()).messages.length,
    found: (await store.searchMessages('c', 'm500')).map(({ message }) => message.id),
    other: (await store.getMessages('other')).map(({ data }) => data.parts.length),
    chats: (await store.listChats()).map(({ id, messageCount }) => [id, messageCount]),
    findings: (await engine.verify()).map(({ kind, text, mends }) => ({ kind, text, mends })),
  };
  engine.dispose();
  await store.close();
  return told;
}

/** Says something, replaces words of a lost block, branches off there, and mends what can be mended. */
async function goOn() {
  const store = new contextree.IndexedDBContextStore('large');
  const engine = new contextree.ContextEngine({ store, chatId: 'c', userId: 'me' });
  engine.set(contextree.user(wordsOf('m990'), { id: 'm990' }));
  await engine.save();
  await engine.updateMessage('m70', {
    id: 'm70',
    role: 'user',
    parts: [{ type: 'text', text: wordsOf('m70') }],
  });
  await engine.rewind('m75');
  await engine.switchBranch('main');
  const repair = await engine.repair();
  await store.set('unsent', wordsOf('the value', 100_000));
  engine.dispose();
  await store.close();
  return repair.findings.filter(({ mends }) => mends).map(({ text }) => text);
}

async function forget(): Promise<unknown> {
  const store = new contextree.IndexedDBContextStore('large');
  const isDeleted = await store.deleteChat('c');
  const { messages } = await store.load('c');
  return [isDeleted, messages.length, (await store.getMessages('other')).length];
}

test('a file in which Chromium keeps large values costs what is in it, when it is gone, empty, cut short or garbled', async () => {
  const profile = await Profile.create();
  try {
    const start = (): Promise<void> =>
      profile.start(async (context) => {
        await context.addInitScript(tellWords);
      });
    await start();
    const first = await profile.open();
    await first.evaluate(fill);
    await profile.kill();
    let harmed = 0;
    for (const file of await profile.largeValues()) {
      const bytes = await readFile(file);
      const [, harm] = HARM.find(([found]) => bytes.includes(found)) ?? [];
      await harm?.(file, bytes);
      if (harm) harmed += 1;
    }
    expect(harmed).toBe(HARM.length);

    await start();
    const page = await profile.open();
    const gone = ids('m', 64, 320);
    const told = await page.evaluate(look);
    expect(told.ids).toEqual([...ids('m', 0, 520), 'long', 'picture']);
    // Of the one that is garbled, the messages are read in whose words nothing is.
    const [spoilt, ...more] = told.lost.filter((id) => ![...gone, 'long'].includes(id));
    expect([told.lost.length, more, spoilt]).toEqual([
      gone.length + 2,
      [],
      expect.stringMatching(/^m3[2-8]\d$/),
    ]);
    expect(told.others).toEqual([
      [expect.stringMatching(/^m4[0-3]\d$/), expect.stringMatching(/^m4[0-3]\d \w{1700}$/)],
      ['picture', '[The file "a.png" (image/png) is lost.]'],
    ]);
    expect(told.resolved).toBe(told.ids.length - told.lost.length);
    expect(told).toMatchObject({ value: undefined, found: ['m500'], other: [1, 1, 1] });
    expect(told.chats).toEqual([
      ['other', 3],
      ['c', 522],
    ]);
    const named = told.findings.map(({ text }) => text);
    for (const id of told.lost) expect(named).toContain(`Message "${id}" has lost its words.`);
    expect(named).toContain(`Message "${told.others[0]?.[0]}" has other words than those that were written.`);

    // It goes on, also in the midst of what is lost.
    expect(await page.evaluate(goOn)).toEqual([]);
    const after = await page.evaluate(look);
    expect(after.ids).toEqual([...told.ids, 'm990']);
    expect(after.lost).toEqual(told.lost.filter((id) => id !== 'm70'));
    expect(after).toMatchObject({ others: told.others, value: 100_010, found: ['m500'] });

    expect(await page.evaluate(forget)).toEqual([true, 0, 3]);
  } finally {
    await profile.remove();
  }
});

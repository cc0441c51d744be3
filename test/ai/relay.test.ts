import type { UIMessageChunk } from 'ai';
import { beforeEach, describe, expect, it } from 'vitest';
import '../../src/store/store.ts';
import { type Exchange } from '../support/transport.ts';
import { openPage, type Page } from './story.ts';

const start: UIMessageChunk = { type: 'start' };
const other: UIMessageChunk = { type: 'start', messageId: 'other' };
const step: UIMessageChunk = { type: 'start-step' };
const open: UIMessageChunk = { type: 'text-start', id: 't' };
const word: UIMessageChunk = { type: 'text-delta', id: 't', delta: 'Word' };
const close: UIMessageChunk = { type: 'text-end', id: 't' };
const stepEnd: UIMessageChunk = { type: 'finish-step' };
const finish: UIMessageChunk = { type: 'finish' };
const finishAs = (finishReason: 'stop' | 'other' | 'error'): UIMessageChunk => ({
  type: 'finish',
  finishReason,
});

let page: Page;
let exchange: Exchange;

beforeEach(async () => {
  page = await openPage();
  exchange = await page.begin('Well?');
});

async function answerWith(...chunks: UIMessageChunk[]): Promise<string> {
  await exchange.send(...chunks);
  await exchange.drop();
  await page.chats.whenSettled();
  const answer = page.chats.active.messages[1];
  const words = (await page.stored()).replace('q: Well?', '').replace(' | a: ', '');
  return answer ? `${words} ${page.engine.status(answer.id)} ${page.chats.active.status}` : 'nothing';
}

describe('an answer came to its end', () => {
  it.each<[string, UIMessageChunk[]]>([
    ['as it should', [start, step, open, word, close, stepEnd, finish]],
    ['without a start', [open, word, close, finish]],
    ['with two starts', [start, other, open, word, close, finish]],
    ['with a start in the middle', [start, open, word, other, close, finish]],
    ['by hand, without steps and finish', [open, word, close]],
    ['by hand, without closing its text', [open, word, finish]],
    ['at its limit, in the middle of a text', [open, word, finishAs('stop')]],
  ])('%s', async (_name, chunks) => {
    expect(await answerWith(...chunks)).toBe('Word complete ready');
  });

  it('with a part after the finish', async () => {
    const chunks = [start, open, word, close, finish, open, word, close];
    expect(await answerWith(...chunks)).toBe('Word/Word complete ready');
  });
});

describe('an answer was cut off', () => {
  it.each<[string, UIMessageChunk[], string?]>([
    ['in the middle of a text', [start, step, open, word]],
    ['between two steps', [start, step, open, word, close, stepEnd]],
    ['by hand, in the middle of a text', [open, word]],
    ['and the model was made to finish it', [start, step, open, word, finishAs('other')]],
    ['by an error that the finish tells', [start, open, word, close, finishAs('error')]],
    ['by a server that was aborted', [start, open, word, { type: 'abort' }]],
    ['by an error', [start, open, word, { type: 'error', errorText: 'overloaded' }], 'error'],
  ])('%s', async (_name, chunks, status = 'ready') => {
    expect(await answerWith(...chunks)).toBe(`Word interrupted ${status}`);
  });

  it.each<[string, UIMessageChunk[]]>([
    ['nothing at all', []],
    ['a start', [start]],
    ['a step', [start, step]],
    ['a text without a word', [start, step, open]],
    ['an empty answer', [start, step, open, close, stepEnd, finish]],
  ])('after %s, and is taken back', async (_name, chunks) => {
    expect(await answerWith(...chunks)).toBe('nothing');
    expect(await page.stored()).toBe('q: Well?');
  });
});

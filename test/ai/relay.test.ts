import type { UIMessageChunk } from 'ai';
import { beforeEach, describe, expect, it } from 'vitest';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import type { ContextStore } from '../../src/store/store.ts';
import { settle, type Exchange } from '../support/transport.ts';
import { changed, openPage, type Page } from './story.ts';

const start: UIMessageChunk = { type: 'start' };
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
  void page.chats.active.sendMessage({ text: 'Well?' });
  exchange = await page.script.next();
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
  it.each<[string, string, UIMessageChunk[]]>([
    ['as it should', 'Word complete ready', [start, step, open, word, close, stepEnd, finish]],
    ['without a start', 'Word complete ready', [open, word, close, finish]],
    [
      'with two starts',
      'Word complete ready',
      [start, { type: 'start', messageId: 'other' }, open, word, close, finish],
    ],
    [
      'with a start in the middle',
      'Word complete ready',
      [start, open, word, { type: 'start', messageId: 'x' }, close, finish],
    ],
    ['with words after the finish', 'Word complete ready', [start, open, word, close, finish, word, close]],
    [
      'with a part after the finish',
      'Word/Word complete ready',
      [start, open, word, close, finish, open, word, close],
    ],
    ['by hand, without steps and finish', 'Word complete ready', [open, word, close]],
    ['by hand, without closing its text', 'Word complete ready', [open, word, finish]],
    ['at its limit, in the middle of a text', 'Word complete ready', [open, word, finishAs('stop')]],
  ])('%s', async (_name, expected, chunks) => {
    expect(await answerWith(...chunks)).toBe(expected);
  });
});

describe('an answer was cut off', () => {
  it.each<[string, string, UIMessageChunk[]]>([
    ['in the middle of a text', 'Word interrupted ready', [start, step, open, word]],
    ['between two steps', 'Word interrupted ready', [start, step, open, word, close, stepEnd]],
    ['by hand, in the middle of a text', 'Word interrupted ready', [open, word]],
    [
      'and the model was made to finish it',
      'Word interrupted ready',
      [start, step, open, word, finishAs('other')],
    ],
    [
      'by an error that the finish tells',
      'Word interrupted ready',
      [start, open, word, close, finishAs('error')],
    ],
    ['by a server that was aborted', 'Word interrupted ready', [start, open, word, { type: 'abort' }]],
    [
      'by an error',
      'Word interrupted error',
      [start, open, word, { type: 'error', errorText: 'overloaded' }],
    ],
  ])('%s', async (_name, expected, chunks) => {
    expect(await answerWith(...chunks)).toBe(expected);
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

it('saves for good what a call was asked, and not again with each word behind it', async () => {
  const saved: string[] = [];
  const data = new InMemoryContextStore();
  const saveDraft: ContextStore['saveDraft'] = async (chatId, draft, options) => {
    if (options?.isDurable) saved.push(draft.message.id);
    return data.saveDraft(chatId, draft, options);
  };
  page = await openPage(changed(data, { saveDraft }));
  void page.chats.active.sendMessage({ text: 'Well?' });
  exchange = await page.script.next();
  const call = { toolCallId: 'c', toolName: 'search', input: {}, providerExecuted: true } as const;
  await exchange.send(start, step, open, word, { type: 'tool-input-available', ...call }, word, word, word);
  await settle();
  expect(saved).toEqual([page.chats.active.messages[1]?.id]);
});

import { describe, expect, it } from 'vitest';
import type { FileUIPart } from 'ai';
import { role } from '../../src/fragment/builders.ts';
import { picked } from '../support/fileList.ts';
import { storedMessages } from '../support/stored.ts';
import { openPage, words } from './story.ts';

/** What an app may give to the verbs of useChat, and what is saved after it. */
const file: FileUIPart = {
  type: 'file',
  mediaType: 'text/plain',
  filename: 'notes.txt',
  url: 'data:text/plain;base64,aGVsbG8=',
};

describe('sendMessage', () => {
  it('without a message lets the assistant begin, as with plain useChat', async () => {
    const page = await openPage();
    await page.goOn().then((greeting) => greeting.answer('Hello.'));
    expect(page.script.requests[0]!.sent.messages).toEqual([]);
    await page.script.answer(page.chats.active.regenerate(), 'Good day.');
    await page.ask('One?', 'First.');
    expect(words(await storedMessages(page.store))).toBe('a: Hello. | a: Good day. | q: One? | a: First.');
    const again = await openPage(page.store);
    expect(again.shown()).toBe('a: Good day. | q: One? | a: First.');
    expect(await again.engine.verify()).toEqual([]);
  });

  it('takes a list of files, as an input has it, which the app empties at once', async () => {
    const page = await openPage();
    const { list, empty } = picked(new File(['hello'], 'notes.txt', { type: 'text/plain' }));
    const sent = page.chats.active.sendMessage({ text: 'One?', files: list, metadata: { mood: 'good' } });
    empty();
    await page.script.answer(sent, 'First.');
    const [question] = await storedMessages(page.store);
    expect(question).toMatchObject({
      parts: [file, { type: 'text', text: 'One?' }],
      metadata: { mood: 'good' },
    });
    expect(question).toEqual(page.chats.active.messages[0]);
  });

  it('takes no files for no files, as JavaScript has them where nothing was picked', async () => {
    const page = await openPage();
    const sent = page.chats.active.sendMessage({ text: 'One?', files: null as never });
    await page.script.answer(sent, 'First.');
    expect(page.shown()).toBe('q: One? | a: First.');
  });

  it("leaves an app's own prompt alone, until there is one of fragments", async () => {
    const page = await openPage();
    const options = { body: { system: 'Mine.' }, metadata: { reason: 'test' } };
    await page.script.answer(page.chats.active.sendMessage({ text: 'One?' }, options), 'First.');
    page.engine.set(role('Ours.'));
    await page.script.answer(page.chats.active.sendMessage({ text: 'Two?' }, options), 'Second.');
    const [own, ours] = page.script.requests.map(({ sent }) => sent);
    expect([own!.body, ours!.body]).toEqual([options.body, { system: '<role>Ours.</role>' }]);
    expect(own!.metadata).toMatchObject({ reason: 'test', contextree: { branch: 'main', attempt: 0 } });
  });

  it('puts new words in place of a question, and its old files only where they are given', async () => {
    const page = await openPage();
    const chat = page.chats.active;
    await page.script.answer(chat.sendMessage({ text: 'One?', files: [file] }), 'First.');
    const edit = (text: string, files?: FileUIPart[]): Promise<void> => {
      const { id } = page.chats.active.messages[0]!;
      const question = { text, messageId: id, ...(files && { files }) };
      return page.script.answer(page.chats.active.sendMessage(question), 'Answered.');
    };
    await edit('Un?', [file]);
    expect(page.chats.active.messages[0]!.parts).toEqual([file, { type: 'text', text: 'Un?' }]);
    await edit('Uno?');
    expect(page.chats.active.messages[0]!.parts).toEqual([{ type: 'text', text: 'Uno?' }]);
  });

  it('refuses to put words in place of an answer, and of what is not there, as the AI SDK does', async () => {
    const page = await openPage();
    await page.ask('One?', 'First.');
    const { active: chat } = page.chats;
    const { id } = chat.messages[1]!;
    await expect(chat.sendMessage({ text: 'No', messageId: id })).rejects.toThrow('not a user message');
    await expect(chat.sendMessage({ text: 'No', messageId: 'nowhere' })).rejects.toThrow('not found');
    await expect(chat.regenerate({ messageId: 'nowhere' })).rejects.toThrow(/nowhere/);
    expect(await page.saved()).toBe('q: One? | a: First.');
  });
});

describe('a message that is sent while an answer grows', () => {
  it('is refused where the app asks for it, and nothing changes', async () => {
    const page = await openPage(undefined, { onBusy: 'reject' });
    const { active: chat } = page.chats;
    const refused: unknown[] = [];
    const refuse = (sent: PromiseLike<void>): PromiseLike<unknown> =>
      sent.then(undefined, (error: unknown) => refused.push(error));
    void chat.sendMessage({ text: 'One?' });
    void refuse(chat.sendMessage({ text: 'Two?' }));
    const first = await page.script.next();
    await first.say('Fir');
    await refuse(chat.sendMessage({ text: 'Three?' }));
    await refuse(chat.sendMessage());
    expect(refused).toMatchObject([{ code: 'busy' }, { code: 'busy' }, { code: 'busy' }]);
    expect(page.shown()).toBe('q: One? | a: Fir');
    await first.finish();
    await page.ask('Four?', 'Fourth.');
    expect(await page.saved()).toBe('q: One? | a: Fir | q: Four? | a: Fourth.');
  });

  it('where it is refused, an edit and another try still stop the answer and begin', async () => {
    const page = await openPage(undefined, { onBusy: 'reject' });
    await page.begin('One?', 'Fir');
    void page.chats.active.regenerate();
    await (await page.script.next()).say('Oth');
    await page.reword(page.chats.active.messages[0]!.id, 'Un?', 'Premier.');
    expect(page.shown()).toBe('q: Un? | a: Premier.');
    expect(words(await storedMessages(page.store))).toBe('q: One? | a: Fir | a: Oth | q: Un? | a: Premier.');
  });
});

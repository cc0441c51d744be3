import { act, cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, test, vi } from 'vitest';
import { attachmentsFrom, bytesOf, MOST_BYTES } from '../../stories/demo/attachments.ts';
import { chatAction, furnish, message, openApp, renewStore, store } from './room.tsx';

furnish();

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const picture = (name = 'leaf.png'): File =>
  new File([Uint8Array.from(atob(pixel), (c) => c.charCodeAt(0))], name, { type: 'image/png' });
const note = (name = 'note.txt', words = 'Water them.'): File =>
  new File([words], name, { type: 'text/plain' });
/** A file that says it is that large, and is not. */
const large = (name: string, size: number): File =>
  Object.defineProperty(note(name), 'size', { value: size });

const attached = (): string[] =>
  screen
    .queryAllByRole('button', { name: /^Remove / })
    .map((button) => button.getAttribute('aria-label') ?? '');
const drop = (files: readonly File[]): boolean =>
  fireEvent.drop(document.body, { dataTransfer: { files, types: ['Files'] } });

/** Where this tab keeps the files of the chat that is shown. */
const placeOfFiles = (): string =>
  Object.keys(localStorage).find((key) => key.startsWith('demo:files:')) ?? '';

async function choose(...files: File[]): Promise<void> {
  const input = document.querySelector<HTMLInputElement>('input[type=file]');
  await userEvent.upload(input!, files);
}

describe('files', () => {
  test('are chosen, pasted and dropped, in this order, and leave with the message', async () => {
    openApp();
    await choose(picture(), note());
    fireEvent.paste(message(), { clipboardData: { files: [picture('pasted.png')], types: ['Files'] } });
    drop([note('dropped.md', '# Moss')]);
    await waitFor(() =>
      expect(attached()).toEqual([
        'Remove leaf.png',
        'Remove note.txt',
        'Remove pasted.png',
        'Remove dropped.md',
      ]),
    );
    await userEvent.type(message(), 'What are these?{Enter}');
    expect(attached()).toEqual([]);
    const article = await screen.findByRole('article', { name: 'You' });
    expect(within(article).getByRole('img', { name: 'leaf.png' }).getAttribute('src')).toBe(
      `data:image/png;base64,${pixel}`,
    );
    expect(within(article).getByRole('link', { name: 'note.txt' }).getAttribute('download')).toBe('note.txt');
    const answer = (): string | null => screen.getByRole('article', { name: 'Assistant' }).textContent;
    await waitFor(() => expect(answer()).toContain('leaf.png (image/png, 70 bytes)'));
    expect(answer()).toContain('note.txt (text/plain, 11 bytes)');
  });

  test('are a message without words, which is called after the first of them', async () => {
    openApp();
    const send = screen.getByRole<HTMLButtonElement>('button', { name: 'Send' });
    expect(send.disabled).toBe(true);
    await choose(note('shopping.txt'));
    await waitFor(() => expect(send.disabled).toBe(false));
    await userEvent.click(send);
    expect(
      within(await screen.findByRole('article', { name: 'You' })).getByText('shopping.txt'),
    ).toBeDefined();
    expect(await screen.findByRole('link', { name: 'shopping.txt', current: 'page' })).toBeDefined();
  });

  test('that are sent in the very moment in which they come go along', async () => {
    openApp();
    await userEvent.type(message(), 'Look');
    await act(async () => {
      drop([picture()]);
      fireEvent.keyDown(message(), { key: 'Enter' });
    });
    expect(within(await screen.findByRole('article', { name: 'You' })).getByRole('img')).toBeDefined();
    expect(screen.getByRole('article', { name: 'You' }).textContent).toContain('Look');
  });

  test('come back with their question when the page was closed before it was saved, and not after', async () => {
    vi.spyOn(store, 'commit').mockReturnValue(new Promise(() => {}));
    openApp();
    await choose(note('lost.txt'));
    await waitFor(() => expect(attached()).toHaveLength(1));
    await userEvent.click(screen.getByRole('button', { name: 'Send' }));
    expect(attached()).toEqual([]);
    cleanup();
    await waitFor(() => expect(placeOfFiles()).not.toBe(''));
    const key = placeOfFiles();
    const kept = await store.get(key);
    renewStore();
    await store.set(key, kept);
    openApp();
    await waitFor(() => expect(attached()).toEqual(['Remove lost.txt']));
    await userEvent.click(screen.getByRole('button', { name: 'Send' }));
    await screen.findByRole('article', { name: 'Assistant' });
    await waitFor(async () => expect(await store.get(key)).toBeUndefined());
  });
});

test('an unsent file goes when its chat is deleted, and comes back with it', async () => {
  openApp();
  await userEvent.type(message(), 'Hello{Enter}');
  await choose(note('kept.txt'));
  await waitFor(() => expect(placeOfFiles()).not.toBe(''));
  const key = placeOfFiles();
  expect(await store.get(key)).toHaveLength(1);
  await chatAction('Delete', 'Hello');
  await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
  const undo = await screen.findByRole('button', { name: 'Undo' });
  expect(await store.get(key)).toBeUndefined();
  await userEvent.click(undo);
  await waitFor(() => expect(attached()).toEqual(['Remove kept.txt']));
  await store.clear();
  await waitFor(async () => expect(await store.get(key)).toBeUndefined());
  expect(attached()).toEqual([]);
});

describe('a file that does not fit', () => {
  test('is named in words, and the others are taken', async () => {
    const all = [note('a'), large('film.mov', MOST_BYTES + 1), note('b')];
    const { parts, refusals } = await attachmentsFrom(all, 0);
    expect(parts.map(({ filename }) => filename)).toEqual(['a', 'b']);
    expect(refusals).toEqual([
      'film.mov is too large (10.0 MB): a message carries files of 10.0 MB at most.',
    ]);
    expect((await attachmentsFrom([large('photo.jpg', 4_000_000)], 7_000_000)).refusals).toEqual([
      'photo.jpg (4.0 MB) is too much beside the other files (7.0 MB): a message carries 10.0 MB at most.',
    ]);
  });

  test('is one that can’t be read, too: a folder, say', async () => {
    const folder = note('folder');
    vi.spyOn(FileReader.prototype, 'readAsDataURL').mockImplementationOnce(function (this: FileReader) {
      this.dispatchEvent(new Event('error'));
    });
    const { parts, refusals } = await attachmentsFrom([folder, note('b')], 0);
    expect(parts.map(({ filename }) => filename)).toEqual(['b']);
    expect(refusals).toEqual(['folder could not be read. A folder can’t be attached; its files can.']);
  });
});

test.each([0, 1, 2, 3, 70])(
  'the bytes of a part of %s bytes are counted without decoding it',
  async (size) => {
    const { parts } = await attachmentsFrom([new File([new Uint8Array(size)], 'f')], 0);
    expect(parts.map(bytesOf)).toEqual([size]);
  },
);

test('words from an office program are pasted as words, not as a picture of them', async () => {
  openApp();
  const types = ['text/plain', 'text/html', 'Files'];
  fireEvent.paste(message(), { clipboardData: { files: [picture()], types } });
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(attached()).toEqual([]);
});

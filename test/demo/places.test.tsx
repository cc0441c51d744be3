import { screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { assistant, ContextEngine, user } from 'contextree';
import { expect, test } from 'vitest';
import { articles, ask, furnish, on, openApp, store } from './room.tsx';

furnish();

const button = async (name: string | RegExp): Promise<HTMLElement> => screen.findByRole('button', { name });

test('a branch that is chosen with the keyboard leaves the focus on the button of the list', async () => {
  openApp();
  await ask('One');
  await userEvent.click(on(articles('You')[0], 'Edit'));
  await userEvent.clear(screen.getByRole('textbox', { name: 'Edited text' }));
  await userEvent.type(screen.getByRole('textbox', { name: 'Edited text' }), 'Two{Enter}');
  await userEvent.click(await button('Branch: Two'));
  (await button('One, 2 messages')).focus();
  await userEvent.keyboard('{Enter}');
  await waitFor(() => expect(document.activeElement?.getAttribute('aria-label')).toBe('Branch: One'));
});

test('a list that a flag opened gives the focus back to the flag', async () => {
  openApp();
  await ask('One');
  await userEvent.click(on(articles('Assistant')[0], 'Checkpoint here'));
  await userEvent.type(await screen.findByRole('textbox', { name: 'Name' }), 'Here{Enter}');
  const flag = await button(/^Checkpoint (?!here)/);
  for (const keys of ['{Escape}', '{Enter}']) {
    flag.focus();
    await userEvent.keyboard('{Enter}');
    (await button(/^Restore /)).focus();
    await userEvent.keyboard(keys);
    await waitFor(() => expect(screen.queryByRole('dialog', { name: 'Checkpoints' })).toBeNull());
    expect(document.activeElement?.className).toBe('flag');
  }
});

test('a branch is found by the end of its first question, which no label shows', async () => {
  const engine = new ContextEngine({ store, chatId: 'many', userId: 'local' });
  await engine.set(user('Begin'), assistant('Yes')).save();
  const start = engine.state.getState().messages.at(-1)?.id ?? '';
  for (let i = 0; i < 10; i += 1) {
    await engine.rewind(start);
    const words = 'A long question that no label holds. '.repeat(3);
    await engine.set(user(words + (i === 4 ? 'pelican' : 'gull'))).save();
  }
  engine.dispose();
  history.replaceState(null, '', '#/chat/many');
  openApp();
  await userEvent.click(await button(/^Branch: /));
  await userEvent.type(screen.getByRole('searchbox', { name: 'Search branches' }), 'pelican');
  const list = screen.getByRole('list', { name: 'All branches' });
  await waitFor(() => expect(within(list).getAllByRole('listitem')).toHaveLength(1));
});

test('the palette opens without a keyboard, and holds what the page has buttons for', async () => {
  openApp();
  await ask('One');
  await userEvent.click(await button('Find'));
  const results = await screen.findByRole('listbox', { name: 'Results' });
  for (const name of [
    'Model settings',
    'Export my data',
    'Import',
    'Checkpoint here',
    'Rename chat',
    'Keyboard',
  ])
    expect(within(results).getByText(name)).toBeDefined();
  await userEvent.click(within(results).getByText('Rename chat'));
  const name = await screen.findByRole<HTMLInputElement>('textbox', { name: 'Name' });
  expect(name.maxLength).toBe(200);
});

test('a title that is a book makes no title of the window that is one', async () => {
  const engine = new ContextEngine({ store, chatId: 'book', userId: 'local' });
  await engine.set(user('Begin')).save();
  await engine.updateChat({ title: 'word '.repeat(2000) });
  engine.dispose();
  history.replaceState(null, '', '#/chat/book');
  openApp();
  await waitFor(() => expect(document.title).toMatch(/^word word.*… · contextree$/));
  expect(document.title.length).toBeLessThan(80);
});

test('the long name of a checkpoint is cut in its notice, and whole in its title', async () => {
  openApp();
  await ask('One');
  await userEvent.click(on(articles('Assistant')[0], 'Checkpoint here'));
  const name = 'A name as long as nobody would give one to a place';
  await userEvent.clear(await screen.findByRole('textbox', { name: 'Name' }));
  await userEvent.type(screen.getByRole('textbox', { name: 'Name' }), `${name}{Enter}`);
  await userEvent.click(await button('Checkpoints'));
  await userEvent.click(await button(`Restore ${name}`));
  const notice = await screen.findByText(/^Back at “A name as long as…”$/);
  expect(notice.title).toBe(`Back at “${name}”`);
});

test('a flag that moved because its name was taken can be put back', async () => {
  openApp();
  await ask('One');
  await ask('Two');
  for (const article of articles('Assistant')) {
    await userEvent.click(on(article, 'Checkpoint here'));
    await userEvent.clear(await screen.findByRole('textbox', { name: 'Name' }));
    await userEvent.type(screen.getByRole('textbox', { name: 'Name' }), 'Here{Enter}');
    await waitFor(() => expect(screen.queryByRole('textbox', { name: 'Name' })).toBeNull());
  }
  const follows = (flag: HTMLElement): boolean =>
    Boolean(articles('You')[1] && flag.compareDocumentPosition(articles('You')[1] as HTMLElement) & 2);
  await waitFor(async () => expect(follows(await button('Checkpoint Here'))).toBe(true));
  expect(await screen.findByText('Checkpoint “Here” moved')).toBeDefined();
  await userEvent.click(await button('Undo'));
  await waitFor(async () => expect(follows(await button('Checkpoint Here'))).toBe(false));
});

import { act, fireEvent, within } from '@testing-library/react';
import type { UIMessage } from 'ai';
import { ContextEngine } from 'contextree';
import { reminder } from 'contextree/reminders';
import { describe, expect, it, vi } from 'vitest';
import { said } from '../support/engine.ts';
import {
  chat,
  eventually,
  findPanel,
  focused,
  open,
  panel,
  press,
  row,
  rows,
  say,
  show,
  type,
} from './room.tsx';

/** q1 > a1 > q2 > a2 on main, q1 > a1 > q3 > a3 on main-v2, which is active. */
async function forked(): Promise<ContextEngine> {
  const engine = await chat('q1', 'a1', 'q2', 'a2');
  await act(() => engine.checkpoint('idea', { at: 'a1' }));
  await act(() => engine.rewind('a1'));
  await say(engine, 'q3', 'a3');
  return engine;
}

const grid = (): HTMLElement => panel().getByRole('treegrid', { name: 'Messages of the chat' });
const cursor = (): string => grid().querySelector('[aria-selected=true]')?.textContent ?? '';

describe('the graph', () => {
  it('shows the way that was left between the fork and the active way, labels on both', async () => {
    await open(await forked());
    expect(rows().map((words) => /[qa]\d/.exec(words)?.[0])).toEqual(['q1', 'a1', 'q2', 'a2', 'q3', 'a3']);
    const levels = panel()
      .getAllByRole('row')
      .map((each) => each.ariaLevel ?? each.getAttribute('aria-level'));
    expect(levels.join(' ')).toBe('1 2 3 4 3 4');
    expect(row('a1').textContent).toContain('checkpoint idea');
    expect(row('a2').textContent).toContain('branch q1');
    expect(row('a3').textContent).toContain('active branch q3');
    expect(within(row('a3')).getByTitle('Branch main-v2')).toBeTruthy();
    expect(row('a3').getAttribute('aria-current')).toBe('true');
    expect(panel().getByText('6 messages - 2 branches')).toBeTruthy();
  });

  it('counts the versions of a message, of which one on a deleted branch is none', async () => {
    const engine = await forked();
    await act(() => engine.rewind('a1'));
    await say(engine, 'q4');
    await open(engine);
    const places = (): string[] =>
      ['q2', 'q3', 'q4', 'a1'].map((id) => {
        const [position, count] = ['aria-posinset', 'aria-setsize'].map((name) => row(id).getAttribute(name));
        return `${position}/${count}`;
      });
    expect(places()).toEqual(['1/3', '2/3', '3/3', 'null/null']);
    await act(() => engine.deleteBranch('main'));
    await eventually(() => expect(places()).toEqual(['null/null', '1/2', '2/2', 'null/null']));
  });

  it('calls a branch on which nothing was said a new one, as its name says nothing', async () => {
    const engine = await forked();
    await engine.rewind('a1');
    await open(engine);
    expect(row('a1').textContent).toContain('active branch New branch');
    expect(within(row('a1')).getByTitle('Branch main-v3')).toBeTruthy();
  });

  it('shows what would turn a row around: in words, labels of branches and checkpoints', async () => {
    const turned = 'cod\u202exe \u2067x\u2069';
    const plain = String.raw`cod\u{202e}xe \u{2067}x\u{2069}`;
    const engine = await chat('q1');
    await act(() => engine.checkpoint(`point ${turned}`));
    await say(engine, `q2 ${turned}`);
    await act(() => engine.rewind('q1'));
    await act(() => engine.renameBranch('main-v2', `aside ${turned}`));
    await open(engine);
    expect(row('q2').textContent).toContain(`user: q2 ${plain}`);
    expect(row('q1').textContent).toContain(`checkpoint point ${plain}`);
    expect(row('q1').textContent).toContain(`active branch aside ${plain}`);
    expect(within(row('q1')).getByTitle(`Branch aside ${plain}`)).toBeTruthy();
    for (const words of rows()) expect(words).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    const { dir } = within(row('q2')).getByText(`q2 ${plain}`, { selector: '.preview' });
    expect(dir).toBe('auto');
  });

  it('shows more words of a message than its preview: of all its texts, no reasoning and no reminder', async () => {
    const engine = await chat();
    const [first, second] = [
      'Boil the water, warm the pot.',
      'Let the leaves steep for three to five minutes.',
    ];
    engine.set(reminder('Answer in one sentence.'));
    const id = await act(() => engine.ask(said('q1', `${first} ${second}`), { id: 'a1' }));
    const tool = { type: 'tool-clock', toolCallId: 't1', state: 'output-available', input: {}, output: 9 };
    const thought = { type: 'reasoning', text: 'They ask for tea.' };
    const [begin, end] = [first, second].map((text) => ({ type: 'text', text }));
    const parts = [thought, begin, tool, end] as UIMessage['parts'];
    await act(() => engine.updateMessage(id, { id, role: 'assistant', parts }, 'complete'));
    await open(engine);
    const previews = panel()
      .getAllByRole('row')
      .map((one) => one.querySelector('.preview')?.textContent);
    expect(previews).toEqual([`${first} ${second}`, `${first} ${second}`]);
  });

  it('gives its rows the room that a finger needs, where there is no finer pointer', async () => {
    const ask = vi.spyOn(globalThis, 'matchMedia');
    ask.mockImplementation((media) =>
      Object.assign(new EventTarget() as MediaQueryList, { media, matches: media === '(pointer:coarse)' }),
    );
    await open(await forked());
    const tops = panel()
      .getAllByRole('row')
      .map(({ style }) => [style.top, style.height]);
    expect(tops.slice(0, 3)).toEqual([
      ['0px', '44px'],
      ['44px', '44px'],
      ['88px', '44px'],
    ]);
    ask.mockRestore();
  });

  it('follows the app until something is selected, and again when it is told to', async () => {
    const engine = await forked();
    await open(engine);
    await type(grid(), 'Home');
    await say(engine, 'q9', 'a9');
    expect(cursor()).toContain('q1');
    await press(panel().getByRole('button', { name: 'Follow' }));
    expect(cursor()).toContain('a9');
    await type(grid(), 'Home', 'Escape');
    expect(cursor()).toContain('a9');
    expect(panel().queryByRole('button', { name: 'Follow' })).toBeNull();
  });

  it('moves with the keys without writing, and checks out with Enter', async () => {
    const engine = await forked();
    await open(engine);
    const write = vi.spyOn(engine, 'checkout');
    expect(cursor()).toContain('a3');
    await type(grid(), 'Home');
    expect(cursor()).toContain('q1');
    await type(grid(), 'ArrowDown', 'ArrowDown', 'ArrowDown');
    expect(cursor()).toContain('a2');
    await type(grid(), 'ArrowUp', 'End', 'ArrowDown');
    expect(cursor()).toContain('a3');
    expect(write).not.toHaveBeenCalled();
    await type(grid(), 'ArrowUp', 'ArrowUp', 'Enter');
    expect(write).toHaveBeenCalledExactlyOnceWith(engine.node('a2')?.key);
    await eventually(() => expect(engine.branch).toBe('main'));
    expect(panel().getByRole('row', { selected: true }).id).toBe(
      grid().getAttribute('aria-activedescendant'),
    );
  });

  it('folds a way that was left, by key and by its button, and says how many messages it hides', async () => {
    await open(await forked());
    await type(grid(), 'Home', 'ArrowDown', 'ArrowDown', 'ArrowLeft');
    expect(rows()).toHaveLength(5);
    expect(row('q2').getAttribute('aria-expanded')).toBe('false');
    expect(row('q2').textContent).toContain('branch q1');
    await type(grid(), 'ArrowRight');
    expect(rows()).toHaveLength(6);
    await press(panel().getByRole('button', { name: 'Fold 1 more' }));
    expect(rows()).toHaveLength(5);
    await press(panel().getByRole('button', { name: 'Unfold 1 more' }));
    expect(rows()).toHaveLength(6);
  });

  it('folds a long way at first, so that the conversation stays together', async () => {
    const engine = await chat('q1', 'a1', ...Array.from({ length: 40 }, (_, i) => `q-long-${i}`));
    await act(() => engine.rewind('a1'));
    await say(engine, 'q2');
    await open(engine);
    expect(rows()).toHaveLength(4);
    expect(row('q-long-0').textContent).toContain('▸ 39');
    expect(row('q-long-0').textContent).toContain('branch q1');
  });

  it('follows the arrow to the left up to the message before', async () => {
    await open(await forked());
    await type(grid(), 'ArrowLeft', 'ArrowLeft');
    expect(cursor()).toContain('a1');
  });

  it('scrolls along with the conversation, unless one looks elsewhere', async () => {
    const engine = await chat(...Array.from({ length: 100 }, (_, i) => `q${i}`));
    await open(engine);
    await say(engine, 'q100');
    await eventually(() => expect(rows().at(-1)).toContain('q100'));
    await type(grid(), 'Home');
    await say(engine, 'q101');
    await eventually(() => expect(panel().getByText(/^102 messages/)).toBeTruthy());
    expect(rows()[0]).toContain('q0');
    expect(cursor()).toContain('q0');
  });

  it('stays at a question until its answer has words, and goes on to the answer then', async () => {
    const engine = await chat(...Array.from({ length: 100 }, (_, i) => `q${i}`));
    await open(engine);
    const said = (id: string, role: 'user' | 'assistant') => ({
      id,
      role,
      parts: [{ type: 'text' as const, text: id }],
    });
    const answer = await act(() => engine.ask(said('asked', 'user')));
    await eventually(() => expect(cursor()).toContain('asked'));
    expect(rows().at(-1)).toContain('asked');
    await act(() => engine.updateMessage(answer, said(answer, 'assistant'), 'streaming'));
    await eventually(() => expect(cursor()).toContain(`assistant: ${answer}`));
    expect(rows().at(-1)).toContain('growing');
  });

  it('says that an answer grows which another tab has begun and that has no words yet', async () => {
    const engine = await chat('q1', 'a1');
    const { store, chatId, userId } = engine;
    const other = new ContextEngine({ store, chatId, userId });
    await other.ask({ id: 'asked', role: 'user', parts: [{ type: 'text', text: 'asked' }] });
    await open(engine);
    await eventually(() => expect(row('asked').textContent).toContain('growing'));
    other.dispose();
  });

  it('shows the selected row again after a message was read, or another view', async () => {
    const ids = Array.from({ length: 60 }, (_, i) => `${i % 2 === 0 ? 'q' : 'a'}${i}`);
    await open(await chat(...ids));
    await type(grid(), 'Home', 'PageDown', ' ');
    await eventually(() => panel().getByRole('button', { name: 'Back' }));
    await press(panel().getByRole('button', { name: 'Back' }));
    await eventually(() => expect(grid().scrollTop).toBeGreaterThan(0));
    await press(panel().getByRole('tab', { name: 'Cost' }));
    await press(panel().getByRole('tab', { name: 'Graph' }));
    await eventually(() => expect(grid().scrollTop).toBeGreaterThan(0));
    expect(grid().getAttribute('aria-activedescendant')).not.toBeNull();
  });

  it('keeps what is typed for a checkpoint when a row comes above', async () => {
    const engine = await chat('q1', 'a1', 'q2', 'a2');
    await act(() => engine.rewind('a1'));
    await say(engine, 'q3', 'a3', 'q4', 'a4', 'q5', 'a5');
    await open(engine);
    await eventually(() => panel().getByRole('searchbox'));
    // The eighth row becomes the ninth.
    await type(grid(), 'Home', ...Array.from({ length: 7 }, () => 'ArrowDown'), 'c');
    const field = panel().getByRole<HTMLInputElement>('textbox', { name: 'Name of the checkpoint' });
    fireEvent.change(field, { target: { value: 'Half a na' } });
    const late = { id: 'q6', role: 'user' as const, parts: [{ type: 'text' as const, text: 'q6' }] };
    await act(() => engine.add([late], { parentId: 'a2' }));
    await eventually(() => expect(rows().findIndex((words) => words.includes('a4'))).toBe(8));
    expect(row('a4').contains(field)).toBe(true);
    expect(field.value).toBe('Half a na');
    expect(focused()).toBe(field);
  });

  it('says why a message could not be checked out', async () => {
    const engine = await forked();
    await open(engine);
    vi.spyOn(engine, 'checkout').mockRejectedValue(new Error('the disk is gone'));
    await type(grid(), 'Home', 'Enter');
    await eventually(() => expect(panel().getByRole('alert').textContent).toBe('the disk is gone'));
    vi.restoreAllMocks();
    await type(grid(), 'Enter');
    await eventually(() => expect(panel().queryByRole('alert')).toBeNull());
  });
});

describe('search and keys', () => {
  const box = (): HTMLElement => panel().getByRole('searchbox', { name: 'Search messages' });
  const write = async (text: string): Promise<void> => {
    await act(async () => void fireEvent.change(box(), { target: { value: text } }));
  };

  it('filters by role, and unfolds what hides a hit', async () => {
    await open(await forked());
    await type(grid(), 'Home', 'ArrowDown', 'ArrowDown', 'ArrowLeft');
    expect(rows()).toHaveLength(5);
    await write('a2');
    await eventually(() => expect(panel().getByRole('search').textContent).toContain('1'));
    await type(box(), 'Enter');
    expect(rows()).toHaveLength(6);
    expect(cursor()).toContain('a2');
  });

  it('says nothing of the hits before it knows them, and why it knows none', async () => {
    const engine = await forked();
    await open(engine);
    const hits = (): string => panel().getByRole('search').querySelector('[role=status]')?.textContent ?? '';
    const search = vi.spyOn(engine.store, 'searchMessages');
    const late = Promise.withResolvers<[]>();
    search.mockReturnValueOnce(late.promise);
    await write('a2');
    await eventually(() => expect(search).toHaveBeenCalled());
    expect(hits()).toBe('…');
    expect(row('q1').className).not.toContain('miss');
    late.resolve([]);
    await eventually(() => expect(hits()).toBe('1'));
    search.mockRejectedValueOnce(new Error('the disk is gone'));
    await write('nowhere');
    expect(hits()).toBe('…');
    await eventually(() => expect(panel().getByRole('alert').textContent).toContain('the disk is gone'));
    await write('nothing');
    await eventually(() => expect(hits()).toBe('none'));
    expect(panel().queryByRole('alert')).toBeNull();
  });

  it('searches on after a hit was read, and Escape takes back the last thing first', async () => {
    await open(await forked());
    const box = (): HTMLInputElement => panel().getByRole('searchbox', { name: 'Search messages' });
    await act(async () => void fireEvent.change(box(), { target: { value: 'a' } }));
    await eventually(() => expect(panel().getByText('3')).toBeTruthy());
    await press(row('a2'));
    await press(await eventually(() => panel().getByRole('button', { name: 'Back' })));
    await eventually(() => expect(panel().getByText('2 of 3')).toBeTruthy());
    await type(grid(), 'Escape');
    expect([box().value, panel().queryByRole('button', { name: 'Follow' })?.tagName]).toEqual(['', 'BUTTON']);
    await type(grid(), 'Escape');
    expect(panel().queryByRole('button', { name: 'Follow' })).toBeNull();
    await type(grid(), 'Escape');
    expect(findPanel()).toBeNull();
  });

  it('gives Escape to the keys first, then to the selection, in another view too, then to the panel', async () => {
    await open(await forked());
    await press(row('a2'));
    await press(await eventually(() => panel().getByRole('button', { name: 'Back' })));
    await type(grid(), '?');
    expect(panel().queryByText('fold, unfold')).not.toBeNull();
    await type(grid(), 'Escape');
    expect(panel().queryByText('fold, unfold')).toBeNull();
    expect(panel().queryByRole('button', { name: 'Follow' })).not.toBeNull();
    await press(panel().getByRole('tab', { name: 'Cost' }));
    await type(panel().getByRole('tab', { name: 'Cost' }), 'Escape');
    await press(panel().getByRole('tab', { name: 'Graph' }));
    expect(panel().queryByRole('button', { name: 'Follow' })).toBeNull();
    await type(panel().getByRole('tab', { name: 'Graph' }), 'Escape');
    expect(findPanel()).toBeNull();
  });

  it('filters by branch', async () => {
    await open(await forked());
    await press(panel().getByRole('button', { name: 'Filter' }));
    const select = await eventually(() => panel().getByRole('combobox', { name: 'branch' }));
    const [main] = [...select.querySelectorAll('option')].filter(({ value }) => value !== '');
    await act(async () => void fireEvent.change(select, { target: { value: main?.value } }));
    const missed = (): HTMLElement[] =>
      panel()
        .getAllByRole('row')
        .filter(({ className }) => className.includes('miss'));
    await eventually(() => expect(missed()).toEqual([row('q3'), row('a3')]));
    await press(panel().getByRole('button', { name: 'Clear' }));
    await eventually(() => expect(missed()).toEqual([]));
  });

  it('has columns by choice, and remembers them', async () => {
    const engine = await forked();
    const shown = await open(engine);
    await press(panel().getByRole('button', { name: 'Columns' }));
    await press(await eventually(() => panel().getByRole('menuitemcheckbox', { name: 'tokens' })));
    await eventually(() => expect(row('a1').textContent).toMatch(/tokens ~\d/));
    shown.unmount();
    show(engine);
    await eventually(() => expect(row('a1').textContent).toMatch(/tokens ~\d/));
  });

  it('goes to forks', async () => {
    await open(await forked());
    await type(grid(), '[');
    expect(cursor()).toContain('a1');
  });
});

import { act, fireEvent, within } from '@testing-library/react';
import { ContextError, role } from 'contextree';
import { describe, expect, it, vi } from 'vitest';
import {
  chat,
  copied,
  eventually,
  findPanel,
  open,
  panel,
  press,
  say,
  SECRET,
  settle,
  type,
} from './room.tsx';

const list = (): HTMLElement => panel().getByRole('listbox');
/** What the lines say, top down, without the time of day and the duration. */
const lines = (): string[] =>
  within(list())
    .queryAllByRole('option')
    .map((one) =>
      [...one.children]
        .slice(1, 3)
        .map(({ textContent }) => textContent)
        .join(' '),
    );
const line = (words: string): HTMLElement =>
  within(list())
    .getAllByRole('option')
    .find((one) => one.textContent.includes(words)) as HTMLElement;
const button = (name: string | RegExp): HTMLButtonElement => panel().getByRole('button', { name });
const tab = (): string => panel().getByRole('tab', { selected: true }).textContent;

describe('the events', () => {
  it('come as they happen, newest first, with what they took', async () => {
    const engine = await chat('q1', 'a1');
    await open(engine, 'Log');
    expect(panel().getByText(/^Nothing has happened/)).toBeTruthy();
    engine.set(role('A tutor'));
    await say(engine, 'q2');
    await act(() => engine.rewind('q1'));
    await eventually(() =>
      expect(lines()).toEqual([
        'branch create, New branch',
        'save ids 1, q1',
        'set fragments 0, messages 1',
        'set fragments 1, messages 0',
      ]),
    );
    expect(line('save').lastChild?.textContent).toMatch(/^[\d.]+ ms$/);
    expect(line('fragment').lastChild?.textContent).toMatch(/^$/);
  });

  it('are kept while the panel is open, also while another view is shown, and not while it is closed', async () => {
    const engine = await chat('q1');
    await open(engine, 'Snapshot');
    await say(engine, 'a1');
    await press(panel().getByRole('tab', { name: 'Log' }));
    await eventually(() => expect(lines()).toHaveLength(2));
    await press(button('Close contextree devtools'));
    await say(engine, 'q2');
    await open(engine, 'Log');
    await eventually(() => expect(lines()).toHaveLength(2));
  });

  it('are found by type and by words', async () => {
    const engine = await chat('q1');
    await open(engine, 'Log');
    await act(() => engine.checkpoint('Here'));
    await say(engine, 'a1');
    await eventually(() => expect(lines()).toHaveLength(3));
    const choose = (role: 'combobox' | 'searchbox', name: string, value: string): boolean =>
      fireEvent.change(panel().getByRole(role, { name }), { target: { value } });
    choose('combobox', 'Type', 'checkpoint');
    expect(lines()).toEqual(['checkpoint create, Here']);
    choose('searchbox', 'Filter events', 'nothing');
    expect(panel().getByText('No event matches.')).toBeTruthy();
    choose('combobox', 'Type', '');
    choose('searchbox', 'Filter events', 'SAVE');
    expect(lines()).toHaveLength(1);
  });

  it('stand still while paused, and say how many came', async () => {
    const engine = await chat('q1');
    await open(engine, 'Log');
    await say(engine, 'a1');
    await eventually(() => expect(lines()).toHaveLength(2));
    await press(button('Pause'));
    await say(engine, 'q2');
    expect(lines()).toHaveLength(2);
    expect(panel().getByText('2 new')).toBeTruthy();
    await press(button('Resume'));
    expect(lines()).toHaveLength(4);
    await press(button('Clear'));
    expect(panel().getByText(/^Nothing has happened/)).toBeTruthy();
  });

  it('lead to the message that they are about', async () => {
    const engine = await chat('q1');
    await open(engine, 'Log');
    engine.set(role('A tutor'));
    await say(engine, 'a1');
    await eventually(() => expect(lines()).toHaveLength(3));
    await press(line('fragment'));
    expect(button('Show in Graph').disabled).toBe(true);
    await press(line('save'));
    expect(panel().getByRole('group', { name: 'Content' }).textContent).toContain('"a1"');
    await press(button('Show in Graph'));
    expect(tab()).toBe('Graph');
    expect(findPanel()?.querySelector('[role=row][aria-selected=true]')?.textContent).toContain('a1');
  });

  it('are chosen by keys', async () => {
    const engine = await chat('q1');
    await open(engine, 'Log');
    await say(engine, 'a1');
    await eventually(() => expect(lines()).toHaveLength(2));
    await type(list(), 'ArrowDown');
    expect(line('save').getAttribute('aria-selected')).toBe('true');
    await type(list(), 'Escape');
    expect([line('save').getAttribute('aria-selected'), tab()]).toEqual(['false', 'Log']);
    await type(list(), 'ArrowDown', 'Enter');
    expect(tab()).toBe('Graph');
  });

  it('are mounted as far as they are in sight', async () => {
    const engine = await chat('q1');
    await open(engine, 'Log');
    for (let i = 0; i < 1_100; i += 1) engine.set(role(`number ${i}`));
    await eventually(() => expect(list().querySelector('[aria-setsize="1000"]')).toBeTruthy());
    expect(lines().length).toBeLessThan(60);
  });

  it('are copied as JSON, without secrets', async () => {
    const engine = await chat('q1');
    await open(engine, 'Log');
    await act(() => engine.checkpoint(`with ${SECRET}`));
    await settle();
    const json = await copied('Copy JSON');
    expect(JSON.parse(json)).toMatchObject([{ type: 'checkpoint', action: 'create' }]);
    expect(json).not.toContain('a1B2');
  });
});

describe('the history', () => {
  async function history(...ids: string[]) {
    const engine = await chat(...ids);
    await open(engine, 'Log');
    await press(button('History'));
    return engine;
  }
  const past = (): HTMLElement => panel().getByRole('region', { name: 'The chat at this step' });
  const pastRows = (): string[] =>
    [...past().querySelectorAll('[role=row]')].map((element) => element.textContent);
  const step = (): HTMLInputElement => panel().getByRole('slider', { name: 'Step' });

  it('lists messages and operations by time, and shows the chat as it was at one of them', async () => {
    const engine = await history('q1', 'a1');
    await act(() => engine.renameBranch('main', 'First try'));
    await say(engine, 'q2', 'a2');
    await act(() => engine.rewind('a1'));
    await eventually(() =>
      expect(lines()).toEqual([
        'user q1',
        'assistant a1',
        'rename-branch main → First try',
        'user q2',
        'assistant a2',
        'rewind First try-v2',
      ]),
    );
    await eventually(() => expect(pastRows().join(' ')).toContain('New branch'));
    await say(engine, 'q3');
    await eventually(() => expect(pastRows().join(' ')).toContain('branch q3'));
    expect(pastRows().join(' ')).not.toContain('New branch');
    expect(within(past()).getAllByTitle('Branch First try-v2')).toHaveLength(1);
    await press(line('a1'));
    await eventually(() => expect(pastRows()).toHaveLength(2));
    expect(pastRows().join(' ')).toContain('main');
    // The first click on a message selects it, whatever was selected before; the second one shows it in the graph.
    const click = (at: number): Promise<void> =>
      press(past().querySelectorAll<HTMLElement>('[role=row]')[at]!);
    await click(0);
    await click(1);
    expect(tab()).toBe('Log');
    // How large and how old a branch was is not recorded.
    expect(pastRows().join(' ')).not.toMatch(/of its own|\d+ y/);
    expect(step().value).toBe('1');
  });

  it('is stepped through by the range, and goes on with the chat at its end', async () => {
    const engine = await history('q1', 'a1');
    fireEvent.change(step(), { target: { value: '0' } });
    await eventually(() => expect(pastRows()).toHaveLength(1));
    await say(engine, 'q2');
    expect(pastRows()).toHaveLength(1);
    fireEvent.change(step(), { target: { value: '2' } });
    await eventually(() => expect(pastRows()).toHaveLength(3));
    await say(engine, 'a2');
    await eventually(() => expect(pastRows()).toHaveLength(4));
  });

  it('undoes and redoes, and says what', async () => {
    const engine = await history('q1', 'a1');
    expect(button('Undo').disabled).toBe(true);
    await act(() => engine.checkpoint('Here'));
    await eventually(() => expect(button('Undo').title).toBe('Undo: checkpoint Here'));
    await press(button('Undo'));
    await eventually(() => expect(line('Here').textContent).toContain('undone'));
    expect(engine.state.getState().checkpoints).toHaveLength(0);
    await press(button('Redo'));
    await eventually(() => expect(engine.state.getState().checkpoints).toHaveLength(1));
  });

  it('says why something could not be undone', async () => {
    const engine = await history('q1');
    await act(() => engine.checkpoint('Here'));
    vi.spyOn(engine, 'undo').mockRejectedValue(new ContextError('overtaken', 'Another tab was there.'));
    await eventually(() => expect(button('Undo').disabled).toBe(false));
    await press(button('Undo'));
    await eventually(() =>
      expect(panel().getByRole('alert').textContent).toContain('Another tab was there.'),
    );
    vi.restoreAllMocks();
  });
});

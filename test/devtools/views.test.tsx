import { expect, it, vi } from 'vitest';
import { act, fireEvent } from '@testing-library/react';
import { ContextEngine, InMemoryContextStore, user } from 'contextree';
import { ContextDevtools } from 'contextree/devtools';
import type { ReactNode } from 'react';
import { App, chat, eventually, findPanel, open, panel, press, row, rows, say, show } from './room.tsx';

const tab = (name: string): HTMLElement => panel().getByRole('tab', { name });
const shown = (): string | null => panel().getByRole('tab', { selected: true }).textContent;

it('opens with the view that was shown last; with the graph, where that is unknown', async () => {
  const engine = await chat('q1');
  const first = await open(engine, 'Prompt');
  first.unmount();
  const second = show(engine);
  await eventually(() => expect(shown()).toBe('Prompt'));
  second.unmount();
  localStorage.setItem('contextree:devtools', '{"isOpen":true,"tab":"Of a later version"}');
  show(engine);
  await eventually(() => expect(shown()).toBe('Graph'));
});

it('keeps the selected message while one looks at other views', async () => {
  await open(await chat('q1', 'a1'));
  await press(panel().getAllByRole('row')[0] as HTMLElement);
  await press(tab('Snapshot'));
  await press(tab('Graph'));
  expect(panel().getAllByRole('row')[0]?.getAttribute('aria-selected')).toBe('true');
});

it('shows one of several engines, and the chosen one stays while one looks at other views', async () => {
  const first = await chat('q1', 'a1');
  const store = new InMemoryContextStore();
  const second = new ContextEngine({ store, chatId: 'a second chat', userId: 'me' });
  second.set(user('of the second'));
  await act(() => second.save());
  await act(() => first.updateChat({ title: 'Tea' }));
  await open(first, undefined, { engines: [first, second] });
  const choice = panel().getByRole('combobox', { name: 'Chat' });
  expect([...choice.children].map(({ textContent }) => textContent)).toEqual(['Tea', 'of the second']);
  expect(panel().getAllByRole('row')).toHaveLength(2);
  await press(panel().getAllByRole('row')[0] as HTMLElement);
  await act(async () => void fireEvent.change(choice, { target: { value: '1' } }));
  await eventually(() => expect(panel().getAllByRole('row')).toHaveLength(1));
  expect(panel().queryByRole('alert')).toBeNull();
  await press(tab('Prompt'));
  await eventually(() => expect(findPanel()?.textContent).toContain('of the second'));
});

it('stays with the chosen engine when the list of engines changes', async () => {
  const [first, second] = [await chat('q1'), await chat('q2')];
  const shown = await open(first, undefined, { engines: [first, second] });
  const choice = panel().getByRole('combobox', { name: 'Chat' });
  await act(async () => void fireEvent.change(choice, { target: { value: '1' } }));
  await eventually(() => expect(row('q2')).toBeTruthy());
  const page = (engines: ContextEngine[]): ReactNode => (
    <App engine={first}>
      <ContextDevtools engines={engines} />
    </App>
  );
  shown.rerender(page([await chat('q3'), first, second]));
  await eventually(() => expect(choice.children).toHaveLength(3));
  expect(rows().join()).toContain('q2');
  expect((choice as HTMLSelectElement).value).toBe('2');
  shown.rerender(page([first]));
  await eventually(() => expect(row('q1')).toBeTruthy());
});

it('shows another chat although a view of the one before stopped', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const [first, second] = [await chat('q1'), await chat('q2')];
  const other = new ContextEngine({ store: second.store, chatId: 'other', userId: 'me' });
  other.set(user('q9'));
  await act(() => other.save());
  vi.spyOn(first, 'graph').mockImplementation(() => {
    throw new Error('a row is corrupt');
  });
  const shown = await open(first);
  expect(panel().getByRole('alert').textContent).toContain('a row is corrupt');
  shown.rerender(
    <App engine={other}>
      <ContextDevtools />
    </App>,
  );
  await eventually(() => expect(row('q9')).toBeTruthy());
  vi.restoreAllMocks();
});

it('calls a branch in each view what the graph calls it', async () => {
  const engine = await chat('q1', 'a1', 'q2');
  await act(() => engine.rewind('q1'));
  await say(engine, 'a2 is **bold**');
  await act(() => engine.rewind('q1'));
  const names = ['New branch', 'q1', 'a2 is bold'];
  await open(engine);
  await eventually(() =>
    names.forEach((name) => expect(findPanel()?.textContent).toContain(`branch ${name}`)),
  );
  const inChoice = (name: string): (string | null)[] =>
    [...panel().getByRole('combobox', { name }).querySelectorAll('option')].map((one) => one.textContent);
  await press(panel().getByRole('button', { name: 'Filter' }));
  expect(inChoice('branch')).toEqual(expect.arrayContaining(names));
  await press(row('q1'));
  const facts = await eventually(() => panel().getByText('Branches').nextSibling?.textContent?.split(', '));
  expect(facts).toEqual(expect.arrayContaining(names));
  await press(tab('Compare'));
  await eventually(() =>
    expect(inChoice('A')).toEqual(expect.arrayContaining(['New branch (shown)', 'q1', 'a2 is bold'])),
  );
  await press(tab('Cost'));
  const rows = await eventually(() => panel().getAllByRole('row', { hidden: true }));
  for (const name of names) expect(rows.map((one) => one.textContent).join()).toContain(name);
});

it('compares the end of what the app shows with the branch that it left, and not with itself', async () => {
  const engine = await chat('q1', 'a1', 'q2');
  await act(() => engine.rewind('a1'));
  await say(engine, 'q3');
  await open(engine);
  await press(row('q3'));
  await press(tab('Compare'));
  await eventually(() => expect(findPanel()?.textContent).toContain('A - user'));
  expect(panel().getByRole<HTMLSelectElement>('combobox', { name: 'A' }).value).toBe(
    engine.state.getState().branches.find(({ name }) => name === 'main')?.id,
  );
});

it('compares with another branch when the chosen one is deleted', async () => {
  const engine = await chat('q1', 'a1');
  for (const id of ['q2', 'q3']) {
    await act(() => engine.rewind('a1'));
    engine.set(user(id, { id }));
    await act(() => engine.save());
  }
  await open(engine, 'Compare');
  const side = (name: string): HTMLSelectElement => panel().getByRole('combobox', { name });
  const deleted = engine.state.getState().branches.find(({ label }) => label === 'q2')!;
  await act(async () => void fireEvent.change(side('A'), { target: { value: deleted.id } }));
  await eventually(() => expect(side('A').selectedOptions[0]?.textContent).toBe('q2'));
  await act(() => engine.deleteBranch(deleted.id));
  await eventually(() => expect(side('A').selectedOptions[0]?.textContent).not.toBe('q2'));
  expect(panel().queryByRole('alert')).toBeNull();
  expect(side('A').value).not.toBe('');
});

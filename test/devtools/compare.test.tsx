import { act, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { chat, eventually, open, panel, press, row, say, type } from './room.tsx';

const grid = (): HTMLElement => panel().getByRole('treegrid');
const tab = (name: string): HTMLElement => panel().getByRole('tab', { name });

describe('compare', () => {
  it('shows the branch shown beside the one that it came from, and goes on from there', async () => {
    const engine = await chat('q1', 'a1', 'q2', 'a2');
    await act(() => engine.rewind('a1'));
    await say(engine, 'q3', 'a3');
    await open(engine, 'Compare');
    await eventually(() => expect(panel().getByText('q2', { selector: 'del' })).toBeTruthy());
    expect(panel().getByText('q3', { selector: 'ins' })).toBeTruthy();
    await press(panel().getByRole('button', { name: 'a1' }));
    expect(tab('Graph').getAttribute('aria-selected')).toBe('true');
    expect(row('a1').getAttribute('aria-selected')).toBe('true');
  });

  it('is opened by a mark and another message, with the keys', async () => {
    const engine = await chat('q1', 'a1', 'q2', 'a2');
    await open(engine);
    await type(grid(), 'Home', 'd');
    await eventually(() => expect(row('q1').textContent).toContain('compare'));
    await type(grid(), 'd');
    await eventually(() => expect(row('q1').textContent).not.toContain('compare'));
    await type(grid(), 'd', 'ArrowDown', 'ArrowDown');
    await eventually(() => expect(row('q1').textContent).toContain('compare'));
    await type(grid(), 'd');
    await eventually(() => expect(tab('Compare').getAttribute('aria-selected')).toBe('true'));
    await eventually(() => expect(panel().getByRole('table', { name: 'Totals' })).toBeTruthy());
    const messages = within(panel().getByRole('table', { name: 'Totals' })).getAllByRole('row')[1];
    expect(messages?.textContent).toBe('Messages02+2');
  });

  it('says that there is nothing to compare', async () => {
    await open(await chat('q1'), 'Compare');
    await eventually(() => expect(panel().getByText(/^There is one branch, and no fork yet/)).toBeTruthy());
  });
});

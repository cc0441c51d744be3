import { fireEvent } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import {
  chat,
  copied,
  downloads,
  eventually,
  open,
  panel,
  press,
  row,
  rows,
  say,
  SECRET,
  type,
} from './room.tsx';

const tree = (): HTMLElement => panel().getByRole('tree', { name: 'Snapshot' });
const items = (): string[] => rows().map((words) => words.replaceAll(/[▸▾]|\u00A0/g, ''));
const cursor = (): string => tree().querySelector('[aria-selected=true]')?.textContent ?? '';

describe('the snapshot', () => {
  it('opens and closes by keyboard, and moves between levels', async () => {
    await open(await chat('q1', 'a1'), 'Snapshot');
    await type(tree(), 'Home');
    expect(cursor()).toContain('estimate');
    const before = items().length;
    await type(tree(), 'ArrowLeft');
    expect(items().length).toBeLessThan(before);
    expect(row('estimate').getAttribute('aria-expanded')).toBe('false');
    await type(tree(), 'ArrowRight');
    expect(items()).toHaveLength(before);
    await type(tree(), 'ArrowRight');
    expect(cursor()).toContain('model:');
    await type(tree(), 'Enter', 'ArrowDown', 'ArrowLeft');
    expect(cursor()).toContain('estimate');
    await type(tree(), 'Enter');
    expect(row('estimate').getAttribute('aria-expanded')).toBe('false');
    await type(tree(), 'End');
    expect(cursor()).toContain('timestamp');
  });

  it('opens by a click, and stays open while the engine goes on', async () => {
    const engine = await chat('q1', 'a1');
    await open(engine, 'Snapshot');
    await press(row('graph:'));
    await press(row('branches:'));
    expect(items().filter((line) => line.startsWith('nodes:'))).toEqual(['nodes:[2]']);
    await say(engine, 'q2');
    await eventually(() =>
      expect(items().filter((line) => line.startsWith('nodes:'))).toEqual(['nodes:[3]']),
    );
    expect(items()).toContainEqual(expect.stringMatching(/^0:\{ name: main, headMessageId: q2, /));
  });

  it('is that of the selected message, until one follows the app again', async () => {
    await open(await chat('q1', 'a1', 'q2'));
    await press(row('q1'));
    await press(panel().getByRole('tab', { name: 'Snapshot' }));
    await eventually(() => expect(panel().getByText('At the selected message')).toBeTruthy());
    await press(row('{ context, pending'));
    await eventually(() => expect(items()).toContain('persisted:[1]'));
    await press(panel().getByRole('button', { name: 'Follow the app' }));
    await eventually(() => expect(items()).toContain('persisted:[3]'));
  });

  it('is searched, and the way back from a new search leads to its last hit', async () => {
    await open(await chat('q1', 'a1', 'q2'), 'Snapshot');
    const box = panel().getByRole('searchbox', { name: 'Search the snapshot' });
    const told = (): string => box.nextElementSibling?.textContent ?? '';
    fireEvent.change(box, { target: { value: 'main' } });
    await eventually(() => expect(Number(told())).toBeGreaterThan(1));
    const found = told();
    await press(panel().getByRole('button', { name: 'Previous hit' }));
    expect(told()).toBe(`${found} of ${found}`);
    await press(panel().getByRole('button', { name: 'Next hit' }));
    expect(told()).toBe(`1 of ${found}`);
  });

  it('is given as a file, too, without secrets', async () => {
    await open(await chat(`q1=my key is ${SECRET}`), 'Snapshot');
    const files = downloads();
    const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockReturnValue();
    await press(panel().getByRole('button', { name: 'Download' }));
    await eventually(() => expect(click).toHaveBeenCalledOnce());
    expect((click.mock.contexts[0] as HTMLAnchorElement).download).toMatch(/^contextree-snapshot-.+\.json$/);
    const text = await files[0]!.text();
    expect(JSON.parse(text)).toMatchObject({ meta: { chatId: 'c' } });
    expect(text).not.toContain('a1B2');
    await eventually(() => panel().getByText('Saved'));
    click.mockImplementation(() => {
      throw new Error('The browser refused.');
    });
    await press(panel().getByRole('button', { name: 'Download' }));
    await eventually(() => panel().getByText('Not saved: The browser refused.'));
    vi.restoreAllMocks();
  });

  it('is copied as JSON, without secrets unless they are asked for', async () => {
    const engine = await chat(`q1=my key is ${SECRET}`, 'a1');
    await open(engine, 'Snapshot');
    expect(await copied('Copy JSON')).not.toContain('a1B2');
    await press(panel().getByRole('checkbox', { name: 'with secrets' }));
    const { meta, ...snapshot } = JSON.parse(await copied('Copy JSON')) as Record<string, object>;
    const inspected = JSON.parse(JSON.stringify(await engine.inspect())) as Record<string, object>;
    expect({ ...snapshot, meta: {} }).toMatchObject({ ...inspected, meta: {} });
    expect(meta).toMatchObject({ chatId: 'c', branch: 'main' });
    expect(JSON.stringify(snapshot)).toContain(SECRET);
  });

  it('stays small for a large chat', async () => {
    await open(await chat(...Array.from({ length: 1_000 }, (_, i) => `q${i}`)), 'Snapshot');
    await press(row('estimate:'));
    await press(row('graph:'));
    await press(row('nodes:'));
    expect(items()).toContain('900 - 999:');
    expect(rows().length).toBeLessThanOrEqual(60);
  });

  it('says why there is none', async () => {
    const engine = await chat('q1');
    vi.spyOn(engine, 'inspect').mockRejectedValue(new Error('nothing to see'));
    await open(engine, 'Snapshot');
    expect(panel().getByRole('alert').textContent).toContain('nothing to see');
    vi.restoreAllMocks();
  });
});

import { act, fireEvent, within } from '@testing-library/react';
import { ContextError, role, user } from 'contextree';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ask, recordedChats } from '../../stories/support/recordedChat.ts';
import { chat, eventually, findPanel, focused, open, panel, press, rows, type } from './room.tsx';

const button = (name: string | RegExp): HTMLButtonElement => panel().getByRole('button', { name });
const fact = (name: string): string | null | undefined => panel().getByText(name).nextSibling?.textContent;

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the storage', () => {
  it('tells where the chat is kept, and how much there is', async () => {
    await open(await chat('q1', 'a1'), 'Storage');
    await eventually(() => expect(fact('Messages')).toBe('2'));
    expect(fact('Kept in')).toBe('memory');
    expect(fact('State')).toBe('saved');
    expect(fact('Attachments')).toBe('0, 0 bytes');
  });

  it('counts again after a turn, whose request is no write', async () => {
    const engine = await chat();
    const chats = recordedChats(engine);
    await open(engine, 'Storage');
    await act(() => ask(chats, 'One?'));
    await eventually(() => expect(fact('Messages')).toBe('2'));
    expect(panel().getByRole('row', { name: /^stream/ })).toBeTruthy();
    expect(panel().queryByRole('row', { name: /^request/ })).toBeNull();
  });

  it('says what the browser allows, and asks it to keep the site', async () => {
    const engine = await chat('q1');
    const store = engine.store as Required<typeof engine.store>;
    const figures = await store.storage();
    const site = { usage: 2e6, quota: 10e6 };
    vi.spyOn(store, 'storage')
      .mockResolvedValueOnce({ ...figures, ...site, persisted: false })
      .mockResolvedValue({ ...figures, ...site, persisted: true });
    store.persist = vi.fn<typeof store.persist>().mockResolvedValue(true);
    // Two questions, because of StrictMode.
    vi.mocked(store.storage).mockResolvedValueOnce({ ...figures, ...site, persisted: false });
    await open(engine, 'Storage');
    const space = await eventually(() => panel().getByText('2.0 MB of 10.0 MB'));
    expect(space.previousElementSibling?.querySelector('span')?.style.width).toBe('20%');
    await press(button('Ask to keep'));
    await eventually(() => expect(panel().getByText('as the browser promised')).toBeTruthy());
    expect(store.persist).toHaveBeenCalledOnce();
  });

  it('leads from a finding to its message', async () => {
    const engine = await chat('q1', 'a1');
    const key = engine.node('a1')?.key ?? '';
    const text = 'has lost its words.';
    const finding = { kind: 'missing-body', id: 'a1', key, text, mends: false } as const;
    vi.spyOn(engine, 'repair').mockResolvedValue({ findings: [finding] });
    await open(engine, 'Storage');
    await press(button('Check'));
    await press(await eventually(() => button('Show in Graph')));
    expect(findPanel()?.querySelector('[role=row][aria-selected=true]')?.textContent).toContain('a1');
  });

  it('says why it could not look', async () => {
    const engine = await chat('q1');
    const closed = new ContextError('store-closed', 'The store is closed.');
    vi.spyOn(engine.store as Required<typeof engine.store>, 'storage').mockRejectedValue(closed);
    vi.spyOn(engine, 'repair').mockRejectedValue(closed);
    await open(engine, 'Storage');
    await eventually(() => expect(panel().getByRole('alert').textContent).toContain('The store is closed.'));
    await press(button('Check'));
    await eventually(() => expect(panel().getAllByRole('alert')).toHaveLength(2));
  });
});

describe('the fragments', () => {
  it('follow the engine, and say when there are none', async () => {
    const engine = await chat('q1');
    await open(engine, 'Fragments');
    expect(panel().getByText(/^No fragments/)).toBeTruthy();
    await act(async () => void engine.set(role('A tutor')));
    await eventually(() => expect(rows()).toHaveLength(1));
    await act(async () => void engine.clear());
    await eventually(() => expect(panel().getByText(/^No fragments/)).toBeTruthy());
  });
});

describe('the checkpoints', () => {
  const options = (): string[] =>
    panel()
      .queryAllByRole('option')
      .map(({ children: [mark, words] }) => `${mark?.lastChild?.textContent} ${words?.textContent}`);
  async function withCheckpoints() {
    const engine = await chat('q1', 'a1', 'q2');
    await engine.checkpoint('First', { at: 'a1' });
    await engine.checkpoint('Second');
    await open(engine, 'Checkpoints');
    await eventually(() => expect(options()).toEqual(['Second q2', 'First a1']));
    return engine;
  }
  const choose = (name: string): Promise<void> => press(panel().getByTitle(`Checkpoint ${name}`));

  it('are shown in the graph', async () => {
    await withCheckpoints();
    expect(button('Show in Graph').disabled).toBe(true);
    await choose('First');
    await press(button('Show in Graph'));
    expect(findPanel()?.querySelector('[role=row][aria-selected=true]')?.textContent).toContain('a1');
  });

  it('are restored, but not over messages that wait', async () => {
    const engine = await withCheckpoints();
    await choose('First');
    engine.set(user('waiting'));
    await press(button('Restore'));
    await eventually(() =>
      expect(panel().getByRole('alert').textContent).toMatch(/a message waits for save/),
    );
    expect(engine.branch).toBe('main');
    await act(() => engine.save());
    await press(button('Restore'));
    await eventually(() => expect(engine.branch).toBe('main-v2'));
    expect(engine.headMessageId).toBe('a1');
  });

  it('are undone with whatever was done last, which the button tells', async () => {
    const engine = await withCheckpoints();
    expect(button('Undo').title).toBe('Undo: checkpoint Second');
    await act(() => engine.rewind('q1'));
    await eventually(() => expect(button('Undo').title).toBe('Undo: rewind main-v2'));
    await press(button('Undo'));
    await eventually(() => expect(engine.branch).toBe('main'));
    expect(options()).toHaveLength(2);
  });

  it('get another name, and say when it is taken', async () => {
    const engine = await withCheckpoints();
    await choose('First');
    const rename = async (): Promise<void> => {
      button('Rename').focus();
      await press(button('Rename'));
    };
    await rename();
    const name = panel().getByRole('textbox', { name: 'Name of the checkpoint' });
    fireEvent.change(name, { target: { value: 'Second' } });
    await type(name, 'Enter');
    await eventually(() =>
      expect(panel().getByRole('alert').textContent).toContain('"Second" exists already'),
    );
    expect(focused()).toBe(button('Rename'));
    await rename();
    const again = panel().getByRole('textbox', { name: 'Name of the checkpoint' });
    fireEvent.change(again, { target: { value: 'Third' } });
    await type(again, 'Enter');
    await eventually(() => expect(options()).toContain('Third a1'));
    expect(engine.state.getState().checkpoints.map(({ name: one }) => one)).toEqual(['Second', 'Third']);
  });

  it('keep their name when one thinks better of it', async () => {
    await withCheckpoints();
    await choose('First');
    button('Rename').focus();
    await press(button('Rename'));
    fireEvent.change(panel().getByRole('textbox', { name: 'Name of the checkpoint' }), {
      target: { value: 'Third' },
    });
    await type(panel().getByRole('textbox', { name: 'Name of the checkpoint' }), 'Escape');
    expect(options()).toContain('First a1');
    expect(within(findPanel() as HTMLElement).queryByRole('textbox')).toBeNull();
    expect(focused()).toBe(button('Rename'));
  });
});

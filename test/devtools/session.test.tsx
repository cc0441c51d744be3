import { act, fireEvent } from '@testing-library/react';
import { exportSession } from 'contextree/session';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { chat, downloads, eventually, findPanel, open, panel, press, rows, say, SECRET } from './room.tsx';

afterEach(() => {
  vi.restoreAllMocks();
});

/** A session file of a chat with these messages. */
async function sessionFile(...ids: string[]): Promise<File> {
  const engine = await chat(...ids);
  return new File([JSON.stringify(await exportSession(engine))], 'session.json');
}

async function drop(file: File): Promise<void> {
  const target = findPanel()?.querySelector('[role=tabpanel]') as HTMLElement;
  const dataTransfer = { types: ['Files'], files: [file] };
  expect(fireEvent.dragOver(target, { dataTransfer })).toBe(false);
  await act(async () => void fireEvent.drop(target, { dataTransfer }));
}

describe('a session', () => {
  it('stays when a damaged file is dropped on it, and both can be closed', async () => {
    await open(await chat('q1', 'a1'));
    await drop(await sessionFile('q7', 'a7', 'q8'));
    await eventually(() => expect(rows()).toHaveLength(3));
    await drop(new File(['{"format":"contextree-ses'], 'cut.json'));
    await eventually(() => expect(panel().getByText(/^This is no session/)).toBeTruthy());
    expect(rows()).toHaveLength(3);
    await press(panel().getAllByRole('button', { name: 'Close' })[0]!);
    expect(panel().queryByText(/^This is no session/)).toBeNull();
    expect(panel().getByText(/^Read-only copy of c/)).toBeTruthy();
    await press(panel().getByRole('button', { name: 'Close' }));
    await eventually(() => expect(rows()).toHaveLength(2));
  });

  it('opened as a copy says that nothing can be run in it, and advises no change of the app', async () => {
    await open(await chat('q1', 'a1'), 'Run');
    await drop(await sessionFile('q7'));
    await eventually(() => expect(panel().getByText('Nothing can be run in a read-only copy.')).toBeTruthy());
    expect(panel().queryByText(/^No chat is attached/)).toBeNull();
  });

  it('is exported with what happened, and tells what was masked', async () => {
    const engine = await chat('q1');
    await open(engine, 'Snapshot');
    await say(engine, `q2=${SECRET}`);
    const files = downloads();
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockReturnValue();
    await press(panel().getByRole('button', { name: 'Export session' }));
    await eventually(() => expect(panel().getByText(/^Exported\. Masked: OpenAI key ×\d+$/)).toBeTruthy());
    const session = JSON.parse(await files[0]!.text()) as {
      events: object[];
      records: { messages: object[] };
    };
    expect(session.records.messages).toHaveLength(2);
    expect(session.events).toEqual(
      expect.arrayContaining([expect.objectContaining({ type: 'save' })]) as object[],
    );
    await press(panel().getByRole('checkbox', { name: 'with secrets' }));
    await press(panel().getByRole('button', { name: 'Export session' }));
    await eventually(() => expect(panel().getByText(/^Exported with secrets/)).toBeTruthy());
    expect(await files[1]!.text()).toContain('a1B2');
  });
});

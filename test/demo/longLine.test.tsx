import { fireEvent, screen, waitFor } from '@testing-library/react';
import { expect, test, vi } from 'vitest';
import { articles, furnish, message, openApp } from './room.tsx';

// A very long line in the box, which the page sets anew so that a key is drawn in time.

furnish();

const LINE = 'minified();'.repeat(20_000);

/** As a browser does it: the words come in at once, and the caret stands behind them. Gives the lengths set from then on. */
function insert(words: string): () => readonly number[] {
  const box = message();
  const at = box.selectionStart;
  fireEvent.change(box, { target: { value: box.value.slice(0, at) + words + box.value.slice(at) } });
  box.setSelectionRange(at + words.length, at + words.length);
  const set = vi.spyOn(box, 'value', 'set');
  return () => set.mock.calls.map(([value]) => value.length);
}

test('a very long line is set anew, with the caret where it was, and is sent as it is', async () => {
  openApp();
  const box = message();
  box.focus();
  fireEvent.change(box, { target: { value: 'Read:  - thanks' } });
  box.setSelectionRange(6, 6);
  const set = insert(LINE);
  await waitFor(() => expect(set()).toEqual([0, LINE.length + 15]));
  expect(box.value === `Read: ${LINE} - thanks`).toBe(true);
  expect([box.selectionStart, box.selectionEnd]).toEqual([6 + LINE.length, 6 + LINE.length]);
  expect(document.activeElement).toBe(box);
  fireEvent.keyDown(box, { key: 'Enter' });
  await waitFor(() => expect(articles('You')).toHaveLength(1));
  expect(box.value).toBe('');
  expect(await screen.findByRole('button', { name: /^Show more/ })).toBeDefined();
});

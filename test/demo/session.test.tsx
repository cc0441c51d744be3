import { fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';
import { furnish, openApp } from './room.tsx';

furnish();

test('a session file that can not be read says why, and is no attachment', async () => {
  openApp();
  const file = new File(['{"half":'], 'contextree-session-2026-11-26T0912.json');
  fireEvent.drop(document.body, { dataTransfer: { types: ['Files'], files: [file] } });
  expect(await screen.findByText(/^This is no session of contextree/)).toBeTruthy();
  expect(screen.queryByText(file.name)).toBeNull();
});

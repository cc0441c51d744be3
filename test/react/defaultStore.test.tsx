import 'fake-indexeddb/auto';
import { act, renderHook, waitFor } from '@testing-library/react';
import { ContextEngineProvider, useChats, useContextEngine, user } from 'contextree';
import type { ReactNode } from 'react';
import { expect, it } from 'vitest';
import { settle } from './harness.tsx';

const page = ({ children }: { children: ReactNode }): ReactNode => (
  <ContextEngineProvider chatId="kept">{children}</ContextEngineProvider>
);

it('keeps a chat in the page’s IndexedDB, where a reload and the list of chats find it', async () => {
  const first = renderHook(() => useContextEngine(), { wrapper: page });
  await act(() => first.result.current.set(user('hello', { id: 'q1' })).save());
  first.unmount();
  await settle(5);
  const second = renderHook(() => useContextEngine(), { wrapper: page });
  expect(second.result.current.engine).not.toBe(first.result.current.engine);
  await waitFor(() => expect(second.result.current.messages).toMatchObject([{ id: 'q1' }]));
  expect(second.result.current.persistence).toBe('indexeddb');
  const outside = renderHook(() => useChats());
  await waitFor(() => expect(outside.result.current.chats).toMatchObject([{ id: 'kept', userId: 'local' }]));
});

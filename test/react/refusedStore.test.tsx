import { act, renderHook, waitFor } from '@testing-library/react';
import { ContextEngineProvider, useContextEngine, user } from 'contextree';
import type { ReactNode } from 'react';
import { expect, it } from 'vitest';

it('works where there is no IndexedDB, and says that memory is all there is', async () => {
  expect(globalThis.indexedDB).toBeUndefined();
  const wrapper = ({ children }: { children: ReactNode }): ReactNode => (
    <ContextEngineProvider chatId="c">{children}</ContextEngineProvider>
  );
  const { result } = renderHook(() => useContextEngine(), { wrapper });
  // The store's code comes now, and a busy machine takes its time.
  await waitFor(() => expect(result.current.status).toBe('ready'), { timeout: 15_000 });
  await act(() => result.current.set(user('hello', { id: 'q1' })).save());
  expect(result.current.messages).toMatchObject([{ id: 'q1' }]);
  expect(result.current.persistence).toBe('memory');
});

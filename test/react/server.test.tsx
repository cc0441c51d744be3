// @vitest-environment node
import { useChat } from '@ai-sdk/react';
import {
  ContextEngineProvider,
  hint,
  IndexedDBContextStore,
  useBranches,
  useChats,
  useCheckpoint,
  useContextEngine,
  useEngineState,
  useFragments,
  useHistory,
  useMessageBranch,
} from 'contextree';
import type { ContextEngine } from 'contextree';
import { useContextChat } from 'contextree/ai';
import { renderToString } from 'react-dom/server';
import type { ReactNode } from 'react';
import { expect, it, vi } from 'vitest';

function Everything(): ReactNode {
  useChat(useContextChat());
  const { status, messages, branch } = useContextEngine();
  useFragments(hint('be brief'));
  const shown = {
    status,
    messages,
    branch,
    branches: useBranches().branches,
    checkpoints: useCheckpoint().checkpoints,
    canUndo: useHistory().canUndo,
    versions: useMessageBranch('a1').count,
    chats: useChats().chats,
    pending: useEngineState((state) => state.pending),
  };
  return <pre>{JSON.stringify(shown)}</pre>;
}

const page = (
  <ContextEngineProvider chatId="c" userId="me">
    <Everything />
  </ContextEngineProvider>
);

it('renders on a server as loading, with empty lists', () => {
  expect(typeof window).toBe('undefined');
  const html = renderToString(page).replaceAll('&quot;', '"');
  expect(html).toBe(
    `<pre>${JSON.stringify({
      status: 'loading',
      messages: [],
      branch: 'main',
      branches: [],
      checkpoints: [],
      canUndo: false,
      versions: 0,
      chats: [],
      pending: [],
    })}</pre>`,
  );
});

it('opens no store and says nothing while it renders on a server', () => {
  const error = vi.spyOn(console, 'error');
  const load = vi.spyOn(IndexedDBContextStore.prototype, 'load');
  const listChats = vi.spyOn(IndexedDBContextStore.prototype, 'listChats');
  const subscribe = vi.spyOn(IndexedDBContextStore.prototype, 'subscribe');
  renderToString(page);
  for (const spy of [error, load, listChats, subscribe]) expect(spy).not.toHaveBeenCalled();
});

// `next build` with `cacheComponents` refuses what would be another page each time it is rendered.
it('draws nothing at random and asks for no time while it renders on a server', () => {
  const spies = [
    vi.spyOn(Math, 'random'),
    vi.spyOn(crypto, 'randomUUID'),
    vi.spyOn(crypto, 'getRandomValues'),
    vi.spyOn(Date, 'now'),
    vi.spyOn(globalThis, 'Date'),
  ];
  renderToString(page);
  const asked = spies.map((spy) => spy.mock.calls.length);
  for (const spy of spies) spy.mockRestore();
  expect(asked).toEqual([0, 0, 0, 0, 0]);
});

it('shares no engine between the people it renders for', () => {
  const engines = new Set<ContextEngine>();
  const Engine = (): ReactNode => {
    engines.add(useContextEngine().engine);
    return null;
  };
  const forSomeone = (
    <ContextEngineProvider chatId="c" userId="me">
      <Engine />
    </ContextEngineProvider>
  );
  renderToString(forSomeone);
  renderToString(forSomeone);
  expect(engines.size).toBe(2);
});

import {
  ContextEngine,
  ContextEngineProvider,
  hint,
  InMemoryContextStore,
  role,
  useBranches,
  useFragments,
  useMessageBranch,
  user,
  XmlRenderer,
} from 'contextree';
import { BranchPicker, useContextChat } from 'contextree/ai';
import { ContextDevtoolsPanel } from 'contextree/devtools/production';
import { StrictMode, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { flushSync } from 'react-dom';
import { expect, it, vi } from 'vitest';
import { useMountedFragments } from '../../src/react/useFragments.ts';
import { ChatView } from './ChatView.tsx';
import { App } from './ContextApp.tsx';

// The React Compiler keeps what a component made for as long as it thinks that nothing changed. The fuzzer drives the
// app in this state, too; here is what makes that worth something.

interface SaysProps {
  readonly words: string;
  readonly children?: ReactNode;
}

it('is what runs here', () => {
  const hooks = [useFragments, useMountedFragments, useBranches, useMessageBranch, useContextChat];
  const parts = [App, ChatView, BranchPicker, ...hooks];
  expect(parts.filter((part) => !/const \$ = .*\bc\)?\(\d+\)/.test(String(part)))).toEqual([]);
});

it('lets fragments stand in the order of the page, and follow it', () => {
  const engine = new ContextEngine({ chatId: 'c', userId: 'me', store: new InMemoryContextStore() });
  const root = createRoot(document.createElement('div'));
  function Says({ words, children }: SaysProps): ReactNode {
    useFragments(hint(words));
    return children;
  }
  function Page({ words }: { readonly words: string }): ReactNode {
    useFragments(role('page'));
    return (
      <Says words="outer">
        {words && <Says words={words} />}
        <Says words="second" />
      </Says>
    );
  }
  const prompt = (): string =>
    engine
      .render(new XmlRenderer())
      .replaceAll(/<[^>]+>|\s+/g, ' ')
      .trim()
      .replaceAll(/ +/g, ' ');
  const say = (words: string): void =>
    flushSync(() =>
      root.render(
        <StrictMode>
          <ContextEngineProvider engine={engine}>
            <Page words={words} />
          </ContextEngineProvider>
        </StrictMode>,
      ),
    );
  say('inner');
  expect(prompt()).toBe('page outer inner second');
  say('changed');
  expect(prompt()).toBe('page outer changed second');
  say('');
  say('again');
  expect(prompt()).toBe('page outer second again');
  flushSync(() => root.unmount());
  expect(prompt()).toBe('');
});

it('lets a row of the panel say more of a message once that is loaded', async () => {
  const store = new InMemoryContextStore();
  const words = 'more words than a graph keeps of each message of a chat, which are fifty';
  const writing = new ContextEngine({ chatId: 'c', userId: 'me', store });
  writing.set(...Array.from({ length: 300 }, (_, i) => user(`${i} ${words}`)));
  await writing.save();
  const engine = new ContextEngine({ chatId: 'c', userId: 'me', store });
  const container = document.body.appendChild(document.createElement('div'));
  const root = createRoot(container);
  flushSync(() => root.render(<ContextDevtoolsPanel engine={engine} />));
  const list = await vi.waitUntil(() => findList(container), 15_000);
  list.scrollTop = 0;
  list.dispatchEvent(new Event('scroll'));
  const first = (): string | undefined => list.querySelector('[data-row="0"] .preview')?.textContent;
  await vi.waitUntil(first, 15_000);
  expect(first()).not.toContain(words);
  await engine.loadMore(100);
  await vi.waitUntil(() => first()?.includes(words), 15_000);
  root.unmount();
});

function findList(container: Element): Element | null | undefined {
  const host = [...container.querySelectorAll('div')].find(({ shadowRoot }) => shadowRoot);
  return host?.shadowRoot?.querySelector('[role=treegrid]');
}

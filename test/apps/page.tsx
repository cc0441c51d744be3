import { fireEvent } from '@testing-library/dom';
import type { ChatTransport, UIMessage } from 'ai';
import { useContextEngine, type ContextEngine, type ContextStore } from 'contextree';
import { StrictMode, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { chatsOf } from '../../src/ai/contextChats.ts';
import { textOf } from '../../src/graph/graph.ts';
import { mortal, type MortalPage } from '../ai/person.ts';
import { allOf } from '../ai/witness.ts';
import { scriptedTransport } from '../support/transport.ts';
import { App } from './ContextApp.tsx';

const ME = { chatId: 'c', userId: 'me' } as const;

function Spy({
  store,
  found,
}: {
  readonly store: ContextStore;
  found: (engine: ContextEngine) => void;
}): ReactNode {
  const { engine, status } = useContextEngine({ ...ME, store });
  if (status === 'ready') found(engine);
  return null;
}

/** A page with the app, and what a person does there. */
export interface AppPage extends MortalPage {
  readonly type: (text: string) => Promise<void>;
  readonly press: (name: string) => boolean;
  readonly seen: () => string;
  /** What is said in the alert; '' where there is none. */
  readonly alert: () => string;
  readonly status: () => string;
  /** The app's callbacks so far. */
  readonly calls: readonly string[];
}

/** How a page opens. */
export interface Opening {
  /** How long each write takes, in ms. Default: no time. */
  readonly pause?: number;
  /** Default: one that says what the test says. */
  readonly transport?: ChatTransport<UIMessage>;
}

/**
 * The code that an app loads by and by, loaded: that takes time which no clock of ours knows. And React is told that
 * nobody wraps what happens in `act`: the clock waits for it.
 */
export async function loadApp(): Promise<void> {
  Reflect.set(globalThis, 'IS_REACT_ACT_ENVIRONMENT', false);
  await Promise.all([
    import('../../src/ai/turns.ts'),
    import('../../src/engine/session.ts'),
    import('../../src/store/open.ts'),
  ]);
}

/** Opens the app that is plain `useChat` but for one line. */
export async function openApp(store: ContextStore, { pause = 0, transport }: Opening = {}): Promise<AppPage> {
  const own = mortal(store, pause);
  const script = scriptedTransport();
  const calls: string[] = [];
  const container = document.body.appendChild(document.createElement('div'));
  const root = createRoot(container);
  const engine = await new Promise<ContextEngine>((found) => {
    root.render(
      <StrictMode>
        <App
          transport={transport ?? script.transport}
          log={(line) => void calls.push(line)}
          chatId="c"
          store={own.store}
        />
        <Spy store={own.store} found={found} />
      </StrictMode>,
    );
  });
  const chats = chatsOf(engine, {});
  const button = (name: string): Element | undefined =>
    [...container.querySelectorAll('button')].findLast(({ textContent }) => textContent === name);
  const isAsked = (text: string): boolean =>
    script.requests.some(({ sent }) => sent.messages.some((message) => textOf(message) === text));
  /** A stop may come before the question goes out. */
  const isStored = async (text: string): Promise<boolean> =>
    (await allOf(store)).some(({ data }) => textOf(data) === text);
  // One after the other: nobody types two questions into one box at once.
  let typing = Promise.resolve();
  const typed = async (text: string): Promise<void> => {
    const box = container.querySelector('input');
    const send = button('Send');
    if (!box || !send) return;
    fireEvent.change(box, { target: { value: text } });
    await wait(1);
    fireEvent.click(send);
    for (let ms = 0; ms < 50 && box.value === text; ms += 1) await wait(1);
  };
  return {
    engine,
    chats,
    script,
    store,
    press: (name) => {
      const found = button(name);
      if (found) fireEvent.click(found);
      return found !== undefined;
    },
    type: async (text) => {
      typing = typing.then(() => typed(text));
      await typing;
      while (!isAsked(text) && !(await isStored(text))) await wait(20);
    },
    alert: () => container.querySelector('[role=alert]')?.textContent ?? '',
    status: () => container.querySelector('[role=status]')?.textContent ?? '',
    calls,
    seen: () => [...container.querySelectorAll('li')].map(messageSeen).join(' | '),
    kill: () => {
      own.kill();
      root.unmount();
      container.remove();
    },
  };
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A message on the screen, as `words()` has it. */
function messageSeen(item: Element): string {
  const parts = [...item.querySelectorAll('span, section')].map(({ tagName, textContent }) => {
    const [type = '', state = ''] = (textContent ?? '').split(' ');
    return tagName === 'SPAN' ? textContent : `[${type.replace('tool-', '')} ${state}]`;
  });
  return `${item.getAttribute('data-role') === 'user' ? 'q' : 'a'}: ${parts.join('/')}`;
}

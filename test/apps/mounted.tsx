import type { UseChatHelpers } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { useContextEngine, type ContextEngine, type ContextEngineOptions } from 'contextree';
import { StrictMode, useLayoutEffect, useState, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { Additions, type AppProps } from './ChatView.tsx';
import { App } from './ContextApp.tsx';

type Chat = UseChatHelpers<UIMessage>;

/** The app that is plain `useChat` but for one line, on a page. */
export interface MountedApp {
  readonly engine: ContextEngine;
  readonly container: HTMLElement;
  /** What `useChat` gives the app now: rendered once more, so that it is not that of an earlier frame. */
  readonly chat: () => Chat;
  /** Gives the app other settings than it was opened with. */
  readonly change: (settings: AppProps['settings']) => void;
  readonly unmount: () => void;
}

/** What there is to an app beside what it is given. */
interface Beside extends Pick<ContextEngineOptions, 'onConflict'> {
  readonly beneathMessage?: Additions['beneathMessage'];
}

/** Puts the app on the page. */
export function mountApp(
  props: Omit<AppProps, 'chatId'>,
  { beneathMessage, onConflict }: Beside = {},
): MountedApp {
  // The clock of a test waits for React, or the test does.
  Reflect.set(globalThis, 'IS_REACT_ACT_ENVIRONMENT', false);
  const container = document.body.appendChild(document.createElement('div'));
  const root = createRoot(container);
  let { settings } = props;
  const found: { engine?: ContextEngine; chat?: Chat } = {};
  const additions: Additions = {
    beneathMessage,
    beneathChat: (chat) => {
      found.chat = chat;
      return null;
    },
  };
  const render = (): void =>
    flushSync(() =>
      root.render(
        <StrictMode>
          <Spy store={props.store} onConflict={onConflict} found={(engine) => (found.engine = engine)} />
          <Additions value={additions}>
            <App chatId="c" {...props} settings={settings} />
          </Additions>
        </StrictMode>,
      ),
    );
  render();
  return {
    engine: found.engine!,
    container,
    chat: () => {
      render();
      return found.chat!;
    },
    change: (next) => {
      settings = next;
      render();
    },
    unmount: () => {
      root.unmount();
      container.remove();
    },
  };
}

/** Reports the engine of the app, which it shares, and unmounts, so that the app does not render for its updates. */
function Spy({ found, ...options }: SpyProps): ReactNode {
  const [isGone, setGone] = useState(false);
  const told = (engine: ContextEngine): void => {
    setGone(true);
    found(engine);
  };
  return isGone ? null : <Look {...options} found={told} />;
}

function Look({ store, onConflict, found }: SpyProps): ReactNode {
  const { engine } = useContextEngine({ chatId: 'c', userId: 'me', store, onConflict });
  useLayoutEffect(() => found(engine), [engine, found]);
  return null;
}

interface SpyProps extends Pick<AppProps, 'store'>, Pick<ContextEngineOptions, 'onConflict'> {
  readonly found: (engine: ContextEngine) => void;
}

import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import type { UIMessage } from 'ai';
import { InMemoryContextStore, type ContextStore } from 'contextree';
import { StrictMode, type ReactNode } from 'react';
import { scriptedTransport, settle, type Exchange, type ScriptedTransport } from '../support/transport.ts';
import { vi } from 'vitest';
import type { AppProps } from './ChatView.tsx';

/** An app under test, as a person sees it, and the server behind it. */
export interface Visit {
  readonly script: ScriptedTransport;
  readonly store: ContextStore;
  /** Presses the button with this name; the last one, where there are several. */
  press(name: string): Promise<void>;
  send(text: string): Promise<void>;
  /** Lets the server do something for the request that is open, and waits until the page shows it. */
  reply(act: (exchange: Exchange) => Promise<void>, exchange?: Exchange): Promise<void>;
  /** The page as text. */
  seen(): string;
  /** All that was seen and called back, step by step. */
  readonly story: readonly string[];
}

/** How often a page must look the same to be at rest. */
const STILL = 3;

/** Opens an app. */
export async function visit(
  App: (props: AppProps) => ReactNode,
  store: ContextStore = new InMemoryContextStore(),
  script: ScriptedTransport = scriptedTransport(),
  messages?: UIMessage[],
): Promise<Visit> {
  cleanup();
  // What an app loads by and by is here already, so that both are as quick.
  await Promise.all([
    import('../../src/ai/turns.ts'),
    import('../../src/engine/session.ts'),
    import('../../src/store/open.ts'),
  ]);
  const story: string[] = [];
  const log = (line: string): void => void story.push(`  ${line}`);
  const { container } = render(
    <StrictMode>
      <App transport={script.transport} log={log} chatId="c" store={store} messages={messages} />
    </StrictMode>,
  );
  const seen = (): string => [...container.querySelectorAll('li, [role]')].map(textOf).join(' | ');
  /** Until nothing has changed for longer than a list is throttled, and than what is written on the way takes. */
  const rest = async (): Promise<void> => {
    let [before, still] = ['', 0];
    while (still < STILL) {
      await act(() => new Promise<void>((resolve) => void setTimeout(resolve, 12)));
      const now = `${story.length} ${seen()}`;
      still = now === before ? still + 1 : 0;
      before = now;
    }
  };
  const step = async (name: string, action: () => unknown): Promise<void> => {
    await act(async () => void (await action()));
    await rest();
    story.push(`${name}: ${seen()}`);
  };
  await rest();
  // Under StrictMode an app asks twice for what could be resumed, and AI SDK 5 calls each of them an end.
  story.length = 0;
  return {
    script,
    store,
    story,
    seen,
    press: (name) => step(name, () => fireEvent.click(screen.getAllByRole('button', { name }).at(-1)!)),
    send: async (text) => {
      fireEvent.change(screen.getByLabelText('Message'), { target: { value: text } });
      await step(`send ${text}`, () => fireEvent.click(screen.getByRole('button', { name: 'Send' })));
    },
    reply: async (action, exchange) => {
      const current = exchange ?? (await vi.waitUntil(() => script.requests.at(-1), { timeout: 2000 }));
      await step('reply', async () => {
        await action(current);
        await settle();
      });
    },
  };
}

function textOf(element: Element): string {
  return (element.textContent ?? '').trim();
}

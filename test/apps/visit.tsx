import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import { InMemoryContextStore, type ContextStore } from 'contextree';
import { StrictMode, type ReactNode } from 'react';
import { picked } from '../support/fileList.ts';
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
  /** Picks files, to be sent with what is typed next. */
  attach(...files: File[]): Promise<void>;
  /** Puts other words in the place of the last question. */
  edit(text: string): Promise<void>;
  /** Lets the server do something for the request that is open, and waits until the page shows it. */
  reply(act: (exchange: Exchange) => Promise<void>, exchange?: Exchange): Promise<void>;
  /** The page as text. */
  seen(): string;
  /** All that was seen and called back, step by step. */
  readonly story: readonly string[];
}

/** How often a page must look the same to be at rest. */
const STILL = 3;

/** What an app opens with. */
export interface Opening extends Partial<Pick<AppProps, 'store' | 'messages' | 'throttle' | 'settings'>> {
  readonly script?: ScriptedTransport;
}

/** Opens an app. */
export async function visit(
  App: (props: AppProps) => ReactNode,
  { store = new InMemoryContextStore(), script = scriptedTransport(), throttle = 4, ...props }: Opening = {},
): Promise<Visit> {
  cleanup();
  // What an app loads by and by is here already, so that both are as quick.
  await Promise.all([
    import('../../src/ai/request.ts'),
    import('../../src/ai/more.ts'),
    import('../../src/engine/session.ts'),
    import('../../src/store/memoryTables.ts'),
  ]);
  const story: string[] = [];
  const { container } = render(
    <StrictMode>
      <App chatId="c" transport={script.transport} throttle={throttle} store={store} {...props} />
    </StrictMode>,
  );
  const texts = (selector: string): string[] => [...container.querySelectorAll(selector)].map(textOf);
  const seen = (): string => texts('li, [role=alert], [role=status]').join(' | ');
  let heard = 0;
  /** What the app was called back with since it was last looked at. */
  const news = (): string[] => {
    const notices = texts('[role=log] p').slice(heard);
    heard += notices.length;
    return notices.map((notice) => `  ${notice}`);
  };
  /** Until nothing has changed for longer than a list is throttled, and than what is written on the way takes. */
  const rest = async (): Promise<void> => {
    let [before, still] = [container.textContent ?? '', 0];
    while (still < STILL) {
      await act(() => new Promise<void>((resolve) => void setTimeout(resolve, 6)));
      const now = container.textContent ?? '';
      still = now === before ? still + 1 : 0;
      before = now;
    }
  };
  const step = async (name: string, action: () => unknown, words = ''): Promise<void> => {
    await act(async () => void (await action()));
    // Files of a question are read before it shows; a question that is refused never does.
    const latest = performance.now() + 5000;
    do await rest();
    while (!seen().includes(words) && performance.now() < latest);
    story.push(...news(), `${name}: ${seen()}`);
  };
  await rest();
  // Under StrictMode an app asks twice for what could be resumed, and AI SDK 5 calls each of them an end.
  news();
  const write = (label: string, text: string): void =>
    void fireEvent.change(screen.getByLabelText(label), { target: { value: text } });
  const press = (name: string): void => void fireEvent.click(screen.getAllByRole('button', { name }).at(-1)!);
  return {
    script,
    store,
    story,
    seen,
    press: (name) => step(name, () => press(name)),
    send: async (text) => {
      write('Message', text);
      await step(`send ${text}`, () => press('Send'), text);
    },
    attach: (...files) =>
      step('attach', () =>
        fireEvent.change(screen.getByLabelText('Files'), { target: { files: picked(...files).list } }),
      ),
    edit: async (text) => {
      press('Edit');
      write('New words', text);
      await step(`edit ${text}`, () => press('Save'));
    },
    reply: async (action, exchange) => {
      const current =
        exchange ?? (await vi.waitUntil(() => script.requests.findLast(isOpen), { timeout: 15_000 }));
      await step('reply', async () => {
        await action(current);
        await settle();
      });
    },
  };
}

/** A request may be on its way when it is to be answered; the one before it is closed by then. */
function isOpen({ isClosed }: { readonly isClosed: boolean }): boolean {
  return !isClosed;
}

function textOf(element: Element): string {
  return (element.textContent ?? '').trim();
}

import { useChat, type UseChatHelpers } from '@ai-sdk/react';
import { act, cleanup, render } from '@testing-library/react';
import type { UIMessage } from 'ai';
import { StrictMode, useEffect, useInsertionEffect, type ReactNode } from 'react';
import { hydrateRoot } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { useContextChat, type UseContextChatOptions } from '../../src/ai/index.ts';
import { ContextEngine } from '../../src/engine/engine.ts';
import { ContextEngineProvider, useEngine } from '../../src/react/provider.tsx';
import { useMessageBranch } from '../../src/react/useMessageBranch.ts';
import { InMemoryContextStore } from '../../src/store/memory.ts';
import { said } from '../support/engine.ts';
import { scriptedTransport, settle, type Exchange, type ScriptedTransport } from '../support/transport.ts';
import { afterReload, words } from './story.ts';

let engine: ContextEngine;
let script: ScriptedTransport;
/** The last result of useChat in the component. */
let chat: UseChatHelpers<UIMessage>;
/** Every frame that was committed: the branch, the list and the status. */
let frames: string[];

beforeEach(() => {
  engine = new ContextEngine({ store: new InMemoryContextStore(), chatId: 'c', userId: 'me' });
  script = scriptedTransport();
  frames = [];
});

afterEach(cleanup);

type OnFinish = NonNullable<UseContextChatOptions['onFinish']>;

function Chat(options: Partial<UseContextChatOptions>): ReactNode {
  const helpers = useChat(useContextChat({ transport: script.transport, ...options }));
  const frame = `${engine.branch}> ${words(helpers.messages)} :${helpers.status}`;
  useEffect(() => {
    chat = helpers;
    if (frames.at(-1) !== frame) frames.push(frame);
  });
  return (
    <ol>
      {helpers.messages.map((message) => (
        <li key={message.id}>
          {words([message])} <Versions id={message.id} />
        </li>
      ))}
    </ol>
  );
}

function Versions({ id }: { readonly id: string }): ReactNode {
  const { branchNumber, count, goToPrevious, regenerate, edit } = useMessageBranch(id);
  return (
    <span data-testid={id}>
      {branchNumber}/{count}
      <button onClick={() => void goToPrevious()}>previous</button>
      <button onClick={() => void regenerate()}>again</button>
      <button onClick={() => void edit('Edited')}>edit</button>
    </span>
  );
}

const app = (options: Partial<UseContextChatOptions> = {}): ReactNode => (
  <StrictMode>
    <ContextEngineProvider engine={engine}>
      <Chat {...options} />
    </ContextEngineProvider>
  </StrictMode>
);

/** Shows components beside each other under the engine, which is read. */
async function showAll(...components: ReactNode[]): Promise<void> {
  render(<ContextEngineProvider engine={engine}>{components}</ContextEngineProvider>);
  await act(() => engine.ready());
}

async function open(options?: Partial<UseContextChatOptions>): Promise<ReturnType<typeof render>> {
  const page = render(app(options));
  await act(() => engine.ready());
  return page;
}

/** Does something, and gives the request that it leads to; its answer says these words, and grows. */
async function requestAfter(action: () => unknown, ...answer: string[]): Promise<Exchange> {
  const exchange = await act(async () => {
    void action();
    const next = await script.next();
    await settle();
    return next;
  });
  if (answer.length > 0) await act(() => exchange.say(...answer));
  return exchange;
}

async function answer(exchange: Exchange, ...texts: string[]): Promise<void> {
  await act(() => exchange.say(...texts));
  await act(() => exchange.finish());
}

const shown = (): string => words(chat.messages);

/**
 * The frames, without those of an answer that is about to say its first word: AI SDK 5 and 6 commit them one by one, within the
 * task of that word.
 */
const told = (): string[] => frames.filter((frame) => !frame.includes('a:  :'));

describe('an untouched useChat', () => {
  it('forks without a frame that shows something else', async () => {
    await open();
    await answer(await requestAfter(() => chat.sendMessage({ text: 'One?' })), 'First.');
    await answer(await requestAfter(() => chat.sendMessage({ text: 'Two?' })), 'Second.');
    frames = [];
    await answer(await requestAfter(() => chat.regenerate()), 'Other.');
    expect(told().map((frame) => frame.replace(/^main(-v2)?> /, ''))).toEqual([
      'q: One? | a: First. | q: Two? :submitted',
      'q: One? | a: First. | q: Two? | a: Other. :streaming',
      'q: One? | a: First. | q: Two? | a: Other. :ready',
    ]);
    frames = [];
    const [first] = chat.messages;
    await answer(
      await requestAfter(() => chat.sendMessage({ text: 'Un?', messageId: first!.id })),
      'Premier.',
    );
    expect(told().map((frame) => frame.replace(/^main(-v\d)?> /, ''))).toEqual([
      'q: Un? :submitted',
      'q: Un? | a: Premier. :streaming',
      'q: Un? | a: Premier. :ready',
    ]);
  });

  it.each([
    ['the one that it was given, as on plain useChat', { id: 'mine' }, 'mine'],
    ['that of the conversation', {}, 'c'],
  ])('has an id: %s; each branch that comes has another one', async (_, options, id) => {
    await open(options);
    expect(chat.id).toBe(id);
    await answer(await requestAfter(() => chat.sendMessage({ text: 'One?' })), 'First.');
    expect(chat.id).toBe(id);
    await act(async () => void (await engine.rewind(chat.messages[0]!.id)));
    expect(chat.id).not.toBe(id);
    cleanup();
    // A chat that is read before it is shown is the first one, too.
    engine = new ContextEngine({ store: engine.store, chatId: 'c', userId: 'me' });
    await engine.ready();
    await open(options);
    expect(chat.id).toBe(id);
  });

  it('shows one branch at a time while two of them stream', async () => {
    await open();
    await answer(await requestAfter(() => chat.sendMessage({ text: 'One?' })), 'First.');
    const hidden = await requestAfter(() => chat.sendMessage({ text: 'Two?' }), 'Sec');
    frames = [];
    await act(async () => void (await engine.rewind(chat.messages[1]!.id)));
    const other = await requestAfter(() => chat.sendMessage({ text: 'Other?' }), 'Oth');
    await act(() => hidden.say('ond.'));
    await act(() => hidden.finish());
    await act(() => engine.switchBranch('main'));
    await act(() => other.say('er.'));
    await act(() => other.finish());
    await act(() => engine.switchBranch('main-v2'));
    expect(told()).toEqual([
      'main-v2> q: One? | a: First. :ready',
      'main-v2> q: One? | a: First. | q: Other? :submitted',
      'main-v2> q: One? | a: First. | q: Other? | a: Oth :streaming',
      'main> q: One? | a: First. | q: Two? | a: Second. :ready',
      'main-v2> q: One? | a: First. | q: Other? | a: Other. :ready',
    ]);
  });

  it('calls back what it was given last', async () => {
    const first = vi.fn<OnFinish>();
    const last = vi.fn<OnFinish>();
    const page = await open({ onFinish: first });
    const exchange = await requestAfter(() => chat.sendMessage({ text: 'One?' }));
    page.rerender(app({ onFinish: last }));
    await answer(exchange, 'First.');
    expect(first).not.toHaveBeenCalled();
    expect(last).toHaveBeenCalledOnce();
    expect(words([last.mock.calls[0]![0].message])).toBe('a: First.');
  });

  it('waits for the chat to be read: what is sent at once is sent to the loaded branch', async () => {
    await engine.ask(said('q', 'Old?'), { id: 'a' });
    await engine.updateMessage('a', said('a', 'Old.'), 'complete');
    engine = new ContextEngine({ store: engine.store, chatId: 'c', userId: 'me' });
    render(app());
    const exchange = await requestAfter(() => chat.sendMessage({ text: 'New?' }));
    await answer(exchange, 'New.');
    expect(shown()).toBe('q: Old? | a: Old. | q: New? | a: New.');
    expect(engine.state.getState().branches).toHaveLength(1);
  });
});

describe('a component that goes', () => {
  it('and comes back finds the answer growing', async () => {
    const page = await open();
    const exchange = await requestAfter(() => chat.sendMessage({ text: 'One?' }), 'Fir');
    page.unmount();
    await open();
    expect(shown()).toBe('q: One? | a: Fir');
    await act(() => exchange.say('st.'));
    expect(shown()).toBe('q: One? | a: First.');
    expect(chat.status).toBe('streaming');
    await act(() => exchange.finish());
  });

  it('stops the answer when it was asked to', async () => {
    const page = await open({ stopOnUnmount: true });
    const exchange = await requestAfter(() => chat.sendMessage({ text: 'One?' }), 'Fir');
    page.unmount();
    await settle();
    expect(exchange.isStopped).toBe(true);
  });

  it('leaves what waits unasked then, and asks it behind the next try once the component is back', async () => {
    const page = await open({ stopOnUnmount: true });
    await requestAfter(() => chat.sendMessage({ text: 'One?' }), 'Fir');
    await act(async () => void chat.sendMessage({ text: 'Two?' }));
    await expect.poll(shown).toBe('q: One? | a: Fir | q: Two?');
    page.unmount();
    await settle();
    await open({ stopOnUnmount: true });
    await expect.poll(shown).toBe('q: One? | a: Fir | q: Two?');
    expect(script.requests).toHaveLength(1);
    await answer(await requestAfter(() => chat.regenerate()), 'Second.');
    expect(shown()).toBe('q: One? | a: Fir | q: Two? | a: Second.');
  });

  it('does not stop it because a second component comes, which StrictMode mounts twice', async () => {
    await open({ stopOnUnmount: true });
    const exchange = await requestAfter(() => chat.sendMessage({ text: 'One?' }), 'Fir');
    await act(() => render(app({ stopOnUnmount: true })));
    await settle();
    expect(exchange.isStopped).toBe(false);
    await answer(exchange, 'st.');
    expect(shown()).toBe('q: One? | a: First.');
  });

  it('does not stop a branch that is hidden, for it has not gone', async () => {
    const page = await open({ stopOnUnmount: true });
    await answer(await requestAfter(() => chat.sendMessage({ text: 'One?' })), 'First.');
    const hidden = await requestAfter(() => chat.sendMessage({ text: 'Two?' }), 'Sec');
    await act(async () => void (await engine.rewind(chat.messages[1]!.id)));
    const other = await requestAfter(() => chat.sendMessage({ text: 'Other?' }));
    page.unmount();
    await settle();
    expect([hidden.isStopped, other.isStopped]).toEqual([false, true]);
    await hidden.answer('ond.');
  });

  it.each(['pagehide', 'visibilitychange'])('loses no word that was on the screen: %s', async (event) => {
    const page = await open();
    const cut = await requestAfter(() => chat.sendMessage({ text: 'One?' }));
    for (const word of ['The ', 'quick ', 'brown ', 'fox']) await act(() => cut.say(word));
    expect(shown()).toBe('q: One? | a: The quick brown fox');
    window.dispatchEvent(new Event(event));
    await settle();
    page.unmount();
    engine = new ContextEngine({ store: afterReload(engine.store), chatId: 'c', userId: 'me' });
    await open();
    expect(shown()).toBe('q: One? | a: The quick brown fox');
  });
});

describe('a component that only looks', () => {
  it('leaves the transport to the one that has it, whichever is rendered last', async () => {
    let send: UseChatHelpers<UIMessage>['sendMessage'] | undefined;
    function Composer(): ReactNode {
      const { sendMessage } = useChat(useContextChat());
      useEffect(() => {
        send = sendMessage;
      });
      return null;
    }
    await showAll(<Chat key="chat" />, <Composer key="composer" />);
    const exchange = await requestAfter(() => send!({ text: 'One?' }));
    await answer(exchange, 'First.');
    expect(words(chat.messages)).toBe('q: One? | a: First.');
  });
});

describe('on a server', () => {
  it('shows what it rendered while the page comes to life, and then what is there', async () => {
    await engine.ask(said('q', 'Old?'));
    const Page = (): ReactNode => {
      const { messages } = useChat(useContextChat({ transport: script.transport }));
      return <p>{words(messages)}</p>;
    };
    const page = (
      <ContextEngineProvider engine={engine}>
        <Page />
      </ContextEngineProvider>
    );
    const container = document.createElement('div');
    container.innerHTML = '<p></p>';
    const complaints: unknown[] = [];
    await act(async () => {
      hydrateRoot(container, page, { onRecoverableError: (error) => complaints.push(error) });
    });
    expect(complaints).toEqual([]);
    expect(container.innerHTML).toBe('<p>q: Old?</p>');
  });
});

describe('a chat that is left for another one', () => {
  const store = new InMemoryContextStore();
  const page = (chatId: string, options: Partial<UseContextChatOptions> = {}): ReactNode => (
    <ContextEngineProvider chatId={chatId} store={store}>
      <Engine />
      <Chat {...options} />
    </ContextEngineProvider>
  );
  function Engine(): ReactNode {
    const current = useEngine();
    useInsertionEffect(() => {
      engine = current;
    });
    return null;
  }
  const whenOpen = async (): Promise<void> => {
    await act(() => engine.ready());
    await act(settle);
  };

  it('asks what waits, and shows the answer growing to whoever comes back', async () => {
    const { rerender } = render(page('left'));
    await whenOpen();
    const own = engine;
    const first = await requestAfter(() => chat.sendMessage({ text: 'One?' }), 'Fir');
    await act(async () => void chat.sendMessage({ text: 'Two?' }));
    rerender(page('other'));
    await whenOpen();
    expect(shown()).toBe('');
    await act(() => first.finish());
    const second = await act(() => script.next());
    await act(() => second.say('Sec'));
    rerender(page('left'));
    await whenOpen();
    expect([engine === own, shown(), chat.status]).toEqual([
      true,
      'q: One? | a: Fir | q: Two? | a: Sec',
      'streaming',
    ]);
    await act(() => chat.stop());
    expect([second.isStopped, chat.status]).toEqual([true, 'ready']);
  });
});

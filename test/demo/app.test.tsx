import { act, cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import { assistant, ContextEngine, ContextError, user } from 'contextree';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { App } from '../../stories/demo/App.tsx';
import { createSettings } from '../../stories/demo/settings/settings.ts';
import { articles, ask, chatAction, furnish, message, on, openApp, renewStore, store } from './room.tsx';

furnish();
afterEach(() => vi.unstubAllGlobals());

const chats = (): string[] =>
  within(screen.getByRole('navigation', { name: 'Chats' }))
    .queryAllByRole('link')
    .map((link) => link.textContent ?? '');
const answers = (): HTMLElement[] => articles('Assistant');
const button = (name: string): HTMLElement => screen.getByRole('button', { name });

/** Presses a button of the first answer. */
async function pressOnAnswer(name: string): Promise<void> {
  await userEvent.click(on(answers()[0], name));
}

/** Tries again, and waits until there are two versions of the answer. */
async function tryAgain(): Promise<HTMLElement> {
  await pressOnAnswer('Try again');
  const versions = await screen.findByRole('group', { name: 'Version 2 of 2' });
  await screen.findByRole('button', { name: 'Send' });
  return versions;
}

/** Opens the app over a network that can be taken away. */
function openUnsteady(): { isDown: boolean } {
  const network = { isDown: false };
  openApp((answering) => ({
    sendMessages: async (request) => {
      if (network.isDown) throw new TypeError('Failed to fetch');
      return answering.sendMessages(request);
    },
  }));
  return network;
}

test('a part that is not what its type says costs that part; the rest of the chat is there, and goes on', async () => {
  const silent = vi.spyOn(console, 'error').mockImplementation(() => {});
  const files = [
    { type: 'file', mediaType: 'image/png', filename: { not: 'a name' }, url: 'data:image/png;base64,AAAA' },
    { type: 'file', mediaType: 'text/plain', filename: 'note.txt' },
    { type: 'file', filename: 'nothing.bin' },
  ];
  // It asks for an approval, and does not say which.
  const unheardOf = { type: 'tool-none', toolCallId: 't', state: 'approval-requested', input: {} };
  const engine = new ContextEngine({ store, chatId: 'c', userId: 'local' });
  await engine.set(user('Look at these'), assistant('I see them')).save();
  const bodies = store.bodies.bind(store);
  vi.spyOn(store, 'bodies').mockImplementation(async (...args) => {
    const read = await bodies(...args);
    for (const { message } of read.values())
      (message.parts as unknown[]).unshift(...(message.role === 'user' ? files : [unheardOf]));
    return read;
  });
  history.replaceState(null, '', '#/chat/c');
  openApp();
  const question = await screen.findByRole('article', { name: 'You' });
  expect(question.textContent).toContain('Look at these');
  expect(within(question).getByRole('img', { name: 'image/png' })).toBeDefined();
  expect(question.textContent).toContain('note.txt');
  const [answer] = answers();
  expect(answer?.textContent).toMatch(/can’t be shown \(tool-none\).*I see them/);
  await ask('And now?');
  expect(answers()).toHaveLength(2);
  silent.mockRestore();
});

describe('the composer', () => {
  test('breaks the line with Shift and Enter', async () => {
    openApp();
    await userEvent.type(message(), 'one{Shift>}{Enter}{/Shift}two');
    expect(message().value).toBe('one\ntwo');
    expect(screen.queryByRole('article')).toBeNull();
  });

  test('leaves the Enter of an input method alone', () => {
    openApp();
    fireEvent.change(message(), { target: { value: 'にほん' } });
    fireEvent.keyDown(message(), { key: 'Enter', isComposing: true });
    fireEvent.keyDown(message(), { key: 'Enter', keyCode: 229 });
    expect(message().value).toBe('にほん');
  });

  test('keeps the focus, and its words when there is nothing to send them to', async () => {
    openApp();
    await ask('Hello');
    expect(document.activeElement).toBe(message());
    await userEvent.type(message(), '   {Enter}');
    expect(screen.getAllByRole('article')).toHaveLength(2);
  });

  test('has the focus again when a button that was pressed goes away', async () => {
    openApp();
    await userEvent.click(await screen.findByRole('button', { name: /like a tree/ }));
    await waitFor(() => expect(answers()).toHaveLength(1));
    await screen.findByRole('button', { name: 'Send' });
    expect(document.activeElement).toBe(message());
    const [question] = articles('You');
    await userEvent.click(on(question, 'Edit'));
    await userEvent.keyboard(' or a river{Enter}');
    await screen.findByText(/tree\? or a river/, { selector: '.words' });
    await screen.findByRole('button', { name: 'Send' });
    expect(document.activeElement).toBe(message());
    await pressOnAnswer('Try again');
    await waitFor(() => within(answers()[0] as HTMLElement).getByRole('group', { name: 'Version 2 of 2' }));
    expect(document.activeElement).toBe(message());
  });

  test.each([
    ['/fail', 'Try again'],
    ['/fail after 3', 'Continue'],
  ])('has the focus when the button that answers %s goes away: %s', async (question, name) => {
    openApp();
    await userEvent.type(message(), `${question}{Enter}`);
    const asked = await screen.findByRole('article', { name: 'Assistant' });
    const press = await within(asked).findByRole('button', { name });
    press.focus();
    await userEvent.keyboard('{Enter}');
    await waitFor(() => expect(press.isConnected).toBe(false));
    expect(document.activeElement).toBe(message());
  });

  test('holds the words of a chat that is still being read, under the shape of its history', async () => {
    await new ContextEngine({ store, chatId: 'c', userId: 'local' }).set(user('Hello')).save();
    localStorage.setItem('demo:unsent:c:a tab that is gone', 'half a thought');
    const load = store.load.bind(store);
    const disk = Promise.withResolvers<void>();
    vi.spyOn(store, 'load').mockImplementation(async (...args) => {
      await disk.promise;
      return load(...args);
    });
    history.replaceState(null, '', '#/chat/c');
    openApp();
    expect(await screen.findByRole('img', { name: 'Loading the conversation' })).toBeDefined();
    await waitFor(() => expect(message().value).toBe('half a thought'));
    expect(screen.queryByRole('article', { name: 'You' })).toBeNull();
    expect(screen.queryByText('What is on your mind?')).toBeNull();
    disk.resolve();
    expect(await screen.findByRole('article', { name: 'You' })).toBeDefined();
    expect(message().value).toBe('half a thought');
  });

  test('gives a question back that the page was closed on before it was saved', async () => {
    vi.spyOn(store, 'commit').mockReturnValue(new Promise(() => {}));
    openApp();
    await userEvent.type(message(), 'Not yet on the disk{Enter}');
    expect(message().value).toBe('');
    cleanup();
    renewStore();
    openApp();
    await waitFor(() => expect(message().value).toBe('Not yet on the disk'));
  });

  test('gives no question back that was saved before the page could note it', async () => {
    openApp();
    await ask('Saved in time');
    const [id] = (await store.getMessages((await store.listChats())[0]?.id ?? '')).map(({ id }) => id);
    const chatId = location.hash.slice('#/chat/'.length);
    cleanup();
    const place = `demo:sent:${chatId}:000001:${id}`;
    localStorage.setItem(place, 'Saved in time');
    openApp();
    expect(await screen.findByRole('article', { name: 'You' })).toBeDefined();
    await waitFor(() => expect(localStorage.getItem(place)).toBeNull());
    expect(message().value).toBe('');
  });
});

describe('an edit', () => {
  test('leaves the Enter and the Escape of an input method alone', async () => {
    openApp();
    await ask('Hello');
    await userEvent.click(on(answers()[0], 'Edit'));
    const textbox = screen.getByRole('textbox', { name: 'Edited text' });
    for (const key of ['Enter', 'Escape']) fireEvent.keyDown(textbox, { key, isComposing: true });
    expect(screen.getByRole('textbox', { name: 'Edited text' })).toBe(textbox);
    fireEvent.keyDown(textbox, { key: 'Escape' });
    expect(screen.queryByRole('textbox', { name: 'Edited text' })).toBeNull();
  });

  const edit = async (): Promise<HTMLTextAreaElement> => {
    const [question] = await screen.findAllByRole('article', { name: 'You' });
    await userEvent.click(on(question, 'Edit'));
    return screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Edited text' });
  };
  const reload = (): void => {
    cleanup();
    openApp();
  };
  const storedWords = (): string => JSON.stringify([localStorage, sessionStorage]);

  test('that was half written is offered again after a reload, until it is cancelled', async () => {
    openApp();
    await ask('Hello');
    await userEvent.type(await edit(), ' and a thought');
    reload();
    expect((await edit()).value).toBe('Hello and a thought');
    await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(storedWords()).not.toContain('thought');
    reload();
    expect((await edit()).value).toBe('Hello');
    await userEvent.keyboard('!{Escape}');
    expect((await edit()).value).toBe('Hello');
  });

  test('that was sent is kept until it is saved', async () => {
    openApp();
    await ask('Hello');
    const commit = store.commit.bind(store);
    const { promise: disk, resolve: save } = Promise.withResolvers<void>();
    vi.spyOn(store, 'commit').mockImplementation((...args) => disk.then(() => commit(...args)));
    await userEvent.type(await edit(), ' and a thought{Enter}');
    await act(() => new Promise((resolve) => setTimeout(resolve, 100)));
    expect(storedWords()).toContain('Hello and a thought');
    save();
    await screen.findByRole('group', { name: 'Version 2 of 2' });
    await waitFor(() => expect(storedWords()).not.toContain('thought'));
  });

  test('goes with its chat, and comes back with it', async () => {
    openApp();
    await ask('Hello');
    await userEvent.type(await edit(), ' and a thought');
    await userEvent.type(message(), 'unsent words');
    await chatAction('Delete', 'Hello');
    await userEvent.click(screen.getByRole('button', { name: 'Delete' }));
    await waitFor(() => expect(chats()).toEqual([]));
    expect(storedWords()).not.toMatch(/thought|unsent words/);
    await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(message().value).toBe('unsent words'));
    expect((await edit()).value).toBe('Hello and a thought');
  });
});

describe('what becomes of it', () => {
  test('memory that only lives with the page is said in words, and never called saved', async () => {
    openApp();
    const welcome = await screen.findByText(/Every version of this conversation stays/);
    expect(welcome.textContent).not.toMatch(/stays in this browser/);
    await ask('Hello');
    expect(screen.getByText(/Kept in memory only/)).toBeDefined();
    expect(screen.getByRole('status', { name: 'Save state' }).textContent).toBe('In memory only');
  });

  test('a question that got no answer says so after the next one, and after a reload, until it has one', async () => {
    const network = openUnsteady();
    network.isDown = true;
    await userEvent.type(message(), 'First{Enter}');
    await screen.findByRole('alert');
    network.isDown = false;
    await userEvent.type(message(), 'Second{Enter}');
    await waitFor(() => expect(answers()).toHaveLength(1));
    await screen.findByRole('button', { name: 'Send' });
    const question = (i: number): HTMLElement => articles('You')[i] as HTMLElement;
    expect(question(0).textContent).toMatch(/could not be reached.*Not answered/);
    expect(question(1).textContent).not.toContain('Not answered');
    expect(screen.queryByRole('alert')).toBeNull();
    cleanup();
    openUnsteady();
    await waitFor(() => expect(answers()).toHaveLength(1));
    expect(question(0).textContent).toContain('Not answered');
    await userEvent.click(within(question(0)).getByRole('button', { name: 'Get an answer' }));
    await waitFor(() => expect(answers()[0]?.textContent).toContain('First'));
    expect(screen.queryByText('Not answered')).toBeNull();
    expect(screen.getAllByRole('article')).toHaveLength(2);
  });

  test('a try that fails shows the way back to the answer before it', async () => {
    const network = openUnsteady();
    await ask('Hello');
    const first = answers()[0]?.textContent;
    network.isDown = true;
    await pressOnAnswer('Try again');
    await screen.findByRole('alert');
    await userEvent.click(screen.getByRole('button', { name: 'Show the earlier answer' }));
    await waitFor(() => expect(answers()[0]?.textContent).toBe(first));
    expect(document.activeElement).toBe(message());
  });

  test('an answer is read out once, at its end', async () => {
    const spoken: string[] = [];
    openApp();
    const status = document.querySelector('.visually-hidden[role=status]') as HTMLElement;
    new MutationObserver(() => spoken.push(status.textContent)).observe(status, {
      childList: true,
      characterData: true,
      subtree: true,
    });
    await ask('Hello there');
    await waitFor(() => expect(spoken).toHaveLength(1));
    expect(spoken[0]).toMatch(/^Assistant: .*Hello there/);
    expect(spoken[0]).not.toMatch(/[.?!][A-Z]/);
  });

  test('a branch made here is taken back by its notice, and made again by the keyboard', async () => {
    openApp();
    await ask('First');
    await ask('Second');
    await userEvent.click(on(articles('You')[0], 'Branch from here'));
    await waitFor(() => expect(answers()).toHaveLength(0));
    await userEvent.click(await screen.findByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(answers()).toHaveLength(2));
    (document.activeElement as HTMLElement | null)?.blur();
    await userEvent.keyboard('{Control>}{Shift>}z{/Shift}{/Control}');
    await waitFor(() => expect(answers()).toHaveLength(0));
    await userEvent.keyboard('{Control>}z{/Control}');
    await waitFor(() => expect(answers()).toHaveLength(2));
    expect(screen.getByText('Undone: Branch from here')).toBeDefined();
    await userEvent.keyboard('{Control>}{Shift>}z{/Shift}{/Control}');
    await waitFor(() => expect(answers()).toHaveLength(0));
  });
});

test('a slow save is mentioned, a quick one is not', async () => {
  // Of a save that goes on, this test says when it has become slow.
  const [later, never] = [globalThis.setTimeout, globalThis.clearTimeout];
  const slow = new Map<unknown, () => void>();
  vi.stubGlobal('setTimeout', (call: () => void, ms?: number) => {
    const timer = later(ms === 300 ? () => {} : call, ms);
    if (ms === 300) slow.set(timer, call);
    return timer;
  });
  vi.stubGlobal('clearTimeout', (timer: ReturnType<typeof later>) => {
    slow.delete(timer);
    never(timer);
  });
  const state = (): string | null => screen.getByRole('status', { name: 'Save state' }).textContent;
  openApp();
  await ask('Quick');
  await waitFor(() => expect(state()).toBe('In memory only'));
  expect([...slow.keys()]).toEqual([]);
  const commit = store.commit.bind(store);
  const { promise: isFree, resolve: free } = Promise.withResolvers<void>();
  vi.spyOn(store, 'commit').mockImplementation(async (...args) => {
    await isFree;
    return commit(...args);
  });
  await userEvent.type(message(), 'Slow{Enter}');
  await waitFor(() => expect(slow.size).toBeGreaterThan(0));
  expect(state()).not.toBe('Saving');
  act(() => {
    for (const call of slow.values()) call();
  });
  expect(state()).toBe('Saving');
  free();
  await waitFor(() => expect(state()).toBe('In memory only'));
});

test('what is brought over from a side question knows where it comes from', async () => {
  openApp();
  await ask('What is a graph?');
  await userEvent.click(button('By the way'));
  await screen.findByRole('region', { name: 'Side question of What is a graph?' });
  await ask('And a tree?');
  await userEvent.click(button('Bring over'));
  await waitFor(() => expect(screen.queryByRole('region', { name: /^Side question/ })).toBeNull());
  expect(screen.getAllByRole('article')).toHaveLength(4);
  const { messages } = await store.load((await store.listChats())[0]?.id ?? '');
  expect(messages).toHaveLength(6);
  const copy = messages.find((one) => one.sources !== undefined);
  const sources = messages.filter(({ key }) => copy?.sources?.includes(key));
  expect(sources.map(({ role }) => role).toSorted()).toEqual(['assistant', 'user']);
});

describe('a disk that says no', () => {
  test('is an alert with the reason, and a way to try again', async () => {
    const commit = store.commit.bind(store);
    const full = new ContextError('quota-exceeded', 'The disk is full');
    const refuse = vi.spyOn(store, 'commit').mockRejectedValue(full);
    openApp();
    await userEvent.type(message(), 'Hello{Enter}');
    await waitFor(() => expect(answers()).toHaveLength(1));
    const alert = await screen.findByRole('alert');
    expect(alert.textContent).toMatch(/Not saved.*The disk is full/);
    expect(screen.getByRole('status', { name: 'Save state' }).contains(alert)).toBe(true);
    expect(mayLeave()).toBe(false);

    // Whoever tries again sees that it was tried, also when nothing changed.
    const { promise: trying, reject: answer } = Promise.withResolvers<never>();
    refuse.mockReturnValueOnce(trying);
    await userEvent.click(within(alert).getByRole('button', { name: 'Retry' }));
    expect(await within(alert).findByRole('button', { name: 'Retrying…' })).toBeDefined();
    answer(full);
    await waitFor(() => expect(alert.textContent).toMatch(/Not saved.*Tried again at/));
    expect(screen.getAllByText(/The disk is full/)).toHaveLength(1);
    // It is called what was asked in it, though the disk knows nothing of it.
    expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Hello');

    refuse.mockImplementation(commit);
    within(alert).getByRole('button', { name: 'Retry' }).focus();
    await userEvent.keyboard('{Enter}');
    await waitFor(() => expect(screen.queryByRole('alert')).toBeNull());
    expect(document.activeElement).toBe(screen.getByRole('button', { name: /^Branch: / }));
    await waitFor(() => expect(chats()).toEqual(['Hello']));
    expect((await store.listChats())[0]?.messageCount).toBe(2);
    expect(mayLeave()).toBe(true);
  });
});

/** Whether the page may be left without a question. */
function mayLeave(): boolean {
  return window.dispatchEvent(new Event('beforeunload', { cancelable: true }));
}

test('a chat that is deleted while it is open can be read and copied, and offers nothing that it would refuse', async () => {
  openApp();
  await ask('lion');
  await tryAgain();
  await pressOnAnswer('Checkpoint here');
  await userEvent.click(screen.getByRole('button', { name: 'Save' }));
  await ask('/fail after 3');
  await screen.findByRole('button', { name: 'Continue' });
  const [question] = articles('You');
  await userEvent.click(on(question, 'Edit'));
  await userEvent.type(screen.getByRole('textbox', { name: 'Edited text' }), ' or tiger');

  await store.deleteChat(decodeURIComponent(location.hash.split('/')[2] ?? ''));
  await waitFor(() => expect(screen.getByRole('alert').textContent).toMatch(/This chat was deleted/));
  expect(screen.getAllByRole('article')).toHaveLength(4);
  for (const name of ['Edit', 'Try again', 'Branch from here', 'Checkpoint here', 'Continue'])
    expect(screen.queryAllByRole('button', { name })).toEqual([]);
  expect(screen.queryByRole('button', { name: /^Checkpoint/ })).toBeNull();
  expect(screen.getAllByRole('button', { name: 'Copy message' })).toHaveLength(3);
  // What was half edited is still there to be copied.
  expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Edited text' }).value).toBe(
    'lion or tiger',
  );
  expect(button('Send edit')).toHaveProperty('disabled', true);
});

test('what one chat refused is not told in another one', async () => {
  openApp();
  await ask('Hello');
  vi.spyOn(store, 'commit').mockRejectedValue(new ContextError('quota-exceeded', 'The disk is full'));
  await userEvent.click(screen.getAllByRole('button', { name: 'Branch from here' })[0] as HTMLElement);
  expect((await screen.findAllByText(/The disk is full/)).length).toBeGreaterThan(0);
  await userEvent.click(button('New chat'));
  await waitFor(() => expect(screen.queryByText(/The disk is full/)).toBeNull());
});

describe('an answer that is not what was hoped for', () => {
  /** Opens the app on a model that says these words, and no more; what they cost is told where it is known. */
  function openOn(words: readonly string[], usage?: object): void {
    const transport: ChatTransport<UIMessage> = {
      sendMessages: async () =>
        new ReadableStream<UIMessageChunk>({
          start(controller) {
            controller.enqueue({ type: 'start' });
            controller.enqueue({ type: 'start-step' });
            controller.enqueue({ type: 'text-start', id: 't' });
            for (const delta of words) controller.enqueue({ type: 'text-delta', id: 't', delta });
            controller.enqueue({ type: 'text-end', id: 't' });
            controller.enqueue({ type: 'finish-step' });
            controller.enqueue({ type: 'finish', ...(usage && { messageMetadata: { usage } }) });
            controller.close();
          },
        }),
      reconnectToStream: async () => null,
    };
    render(<App store={store} settings={createSettings()} transport={transport} />);
  }

  test('without a word, but not for nothing, it says so after a reload, too, and another try is a version', async () => {
    openOn([], { inputTokens: 3, outputTokens: 0 });
    await userEvent.type(message(), 'Hello{Enter}');
    expect((await screen.findByRole('alert')).textContent).toMatch(/without a word/);
    await screen.findByRole('button', { name: 'Send' });
    cleanup();
    openOn(['Hi.'], { inputTokens: 3, outputTokens: 1 });
    const alert = await screen.findByRole('alert');
    expect(alert.textContent).toMatch(/without a word/);
    await pressOnAnswer('Try again');
    await screen.findByRole('group', { name: 'Version 2 of 2' });
    await waitFor(() => expect(answers().map(({ textContent }) => textContent)[0]).toContain('Hi.'));
    expect(screen.queryByRole('alert')).toBeNull();
  });
});

import type { ChatTransport, UIMessage } from 'ai';
import type { ContextEngine, ContextStore } from 'contextree';
import { BranchPicker } from 'contextree/ai';
import type { ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { chatsOf } from '../../src/ai/contextChats.ts';
import { textOf } from '../../src/reminded.ts';
import { mortal, type MortalPage, type Reconnect } from '../ai/person.ts';
import { noteOf } from '../ai/story.ts';
import { scriptedTransport } from '../support/transport.ts';
import type { Additions } from './ChatView.tsx';
import { mountApp } from './mounted.tsx';

/** How a page opens. */
export interface Opening {
  /** How long each write takes, in ms. Default: no time. */
  readonly pause?: number;
  /** Default: a server that has nothing to take up. */
  readonly reconnect?: Reconnect;
  /** How long a server takes to say what there is to take up, in ms. Default: no time. */
  readonly latency?: number;
  /** What stands beneath each message. Default: nothing. */
  readonly beneath?: Additions['beneathMessage'];
}

/**
 * Loads the app's lazy code, which takes real time that the test's clock does not know, and tells React that nothing is wrapped
 * in `act`: the clock waits for it.
 */
export async function loadApp(): Promise<void> {
  Reflect.set(globalThis, 'IS_REACT_ACT_ENVIRONMENT', false);
  const code = import.meta.glob('../../src/{ai,engine,fragment,store}/**/*.ts');
  await Promise.all(Object.values(code).map((load) => load()));
}

/** A pager beneath each message. */
export const pager = (messageId: string): ReactNode => <BranchPicker messageId={messageId} />;

/** Opens the app that is plain `useChat` but for one line. */
export async function openApp(
  store: ContextStore,
  { pause = 0, reconnect, latency = 0, beneath }: Opening = {},
): Promise<MortalPage> {
  const own = mortal(store, pause);
  const script = scriptedTransport();
  const { engine, container, unmount } = mountApp(
    { transport: script.transport, throttle: 10, store: own.store },
    { beneathMessage: beneath },
  );
  let isGone = false;
  // A request to take up an answer from a page that has died gets nothing.
  const find: Reconnect = (...asked) => (isGone ? null : (reconnect?.(...asked) ?? null));
  if (reconnect) takingUp(script.transport, engine, find, latency);
  await engine.ready();
  const chats = chatsOf(engine, {});
  /** Where a button or a field is looked for: in what has this id, a message or the call of a tool, or on all of the page. */
  const placeOf = (id?: string): Element | null =>
    id === undefined ? container : container.querySelector(`[data-id="${id}"]`);
  const button = (name: string, id?: string): HTMLElement | undefined =>
    [...(placeOf(id)?.querySelectorAll('button') ?? [])].findLast(
      (one) => (one.getAttribute('aria-label') ?? one.textContent) === name,
    );
  const field = (name: string, id?: string): HTMLInputElement | null | undefined =>
    placeOf(id)?.querySelector<HTMLInputElement>(`[aria-label="${name}"]`);
  const isAsked = (text: string): boolean =>
    script.requests.some(({ sent }) => sent.messages.some((message) => textOf(message) === text));
  /** The person may stop before the question goes out. */
  const isStored = async (text: string): Promise<boolean> =>
    (await store.load('c')).messages.some(({ versions }) => versions.at(-1)?.preview === text);
  const news = newsOf(script.transport, store);
  // One after the other: nobody types two questions into one box at once.
  let typing = Promise.resolve();
  const typed = async (text: string): Promise<void> => {
    const box = field('Message');
    const send = button('Send');
    if (!box || !send) return;
    fill(box, text);
    await wait(1);
    send.click();
    for (let ms = 0; ms < 50 && box.value === text; ms += 1) await wait(1);
  };
  const isTaken = async (text: string): Promise<void> => {
    // Told of what comes while it reads, too.
    for (let next = news.next(); !isAsked(text) && !(await isStored(text)); next = news.next()) await next;
  };
  return {
    engine,
    chats,
    script,
    store,
    press: (name, id) => {
      const found = button(name, id);
      found?.click();
      return found !== undefined;
    },
    edit: (id, text) => {
      const found = button('Edit', id);
      if (!found) return undefined;
      // Nothing comes between: the message may be gone a moment later, and its editor with it.
      flushSync(() => found.click());
      const editor = field('New words', id);
      if (editor) flushSync(() => fill(editor, text));
      button('Save', id)?.click();
      return isTaken(text);
    },
    type: async (text) => {
      typing = typing.then(() => typed(text));
      await typing;
      await isTaken(text);
    },
    notices: () => [...container.querySelectorAll('[role=log] p')].map(({ textContent }) => textContent),
    pager: (id) => container.querySelector(`[data-id="${id}"] [role=group] span`)?.textContent ?? '',
    seen: () => [...container.querySelectorAll('li')].map(messageSeen).join(' | '),
    kill: () => {
      isGone = true;
      own.kill();
      news.end();
      engine.dispose();
      unmount();
    },
  };
}

/** Lets a page take up what its server still streams of the answer at its end. */
function takingUp(
  transport: ChatTransport<UIMessage>,
  engine: ContextEngine,
  reconnect: Reconnect,
  latency: number,
): void {
  Object.assign(transport, {
    resumeStreamIsReplay: true,
    reconnectToStream: async (sent: { abortSignal?: AbortSignal; metadata?: unknown }) => {
      // A server answers what it was asked, whatever is shown by then.
      const { messages, remoteMessages } = engine.state.getState();
      const asked = [...messages, ...remoteMessages].at(-1)?.id;
      if (latency > 0) await wait(latency);
      const branchId = String(noteOf({ sent })['branchId']);
      return sent.abortSignal?.aborted ? null : reconnect(asked, branchId, sent.abortSignal);
    },
  });
}

/** Types into a field of React, which notices only changes that it has not made itself. */
function fill(field: HTMLInputElement, text: string): void {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(field, text);
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

/** Reports each request that goes out, and each write: a waiting act checks again then, and only then. */
function newsOf(transport: ChatTransport<UIMessage>, store: ContextStore): News {
  const waiting: (() => void)[] = [];
  const tell = (): void => {
    for (const hear of waiting.splice(0)) hear();
  };
  const { sendMessages } = transport;
  transport.sendMessages = (sent) => {
    const stream = sendMessages(sent);
    tell();
    return stream;
  };
  return { next: () => new Promise((hear) => waiting.push(hear)), end: store.subscribe(tell) };
}

interface News {
  readonly next: () => Promise<void>;
  readonly end: () => void;
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A message on the screen, as `words()` has it. */
function messageSeen(item: Element): string {
  const said = [...item.children].filter(({ tagName }) => /^(SPAN|SECTION)$/.test(tagName));
  const parts = said.map(({ tagName, textContent }) => {
    const [type = '', state = ''] = (textContent ?? '').split(' ');
    return tagName === 'SPAN' ? textContent : `[${type.replace('tool-', '')} ${state}]`;
  });
  return `${item.getAttribute('data-role') === 'user' ? 'q' : 'a'}: ${parts.join('/')}`;
}

import { act, cleanup, render } from '@testing-library/react';
import { InMemoryContextStore, useContextEngine, type ContextEngine, type ContextStore } from 'contextree';
import { startTransition, StrictMode, Suspense, use, useEffect, useState, type ReactNode } from 'react';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { scriptedTransport, settle, type Exchange, type ScriptedTransport } from '../support/transport.ts';
import { App } from './ContextApp.tsx';

/** The app on contextree in the company that React keeps: suspended neighbours, and moves that may wait. */
let store: ContextStore;
let script: ScriptedTransport;
let engine: ContextEngine;
/** Puts something beside the app that has to be waited for. */
let suspend: (promise: Promise<string> | undefined) => void;

function Spy(): ReactNode {
  const found = useContextEngine({ chatId: 'c', userId: 'me', store });
  useEffect(() => {
    engine = found.engine;
  });
  return null;
}

function Neighbour(): ReactNode {
  const [promise, setPromise] = useState<Promise<string>>();
  useEffect(() => {
    suspend = setPromise;
  }, []);
  return promise ? <aside>{use(promise)}</aside> : null;
}

afterEach(cleanup);

beforeEach(async () => {
  store = new InMemoryContextStore();
  script = scriptedTransport();
  render(
    <StrictMode>
      <Suspense fallback={<p role="note">Waiting</p>}>
        <App chatId="c" transport={script.transport} throttle={10} store={store} />
        <Spy />
        <Neighbour />
      </Suspense>
    </StrictMode>,
  );
  await act(settle);
});

const page = (): string =>
  [...document.querySelectorAll('li')]
    .map(({ textContent }) => textContent.replace(/(Edit)?Delete$/, ''))
    .join(' | ');
const isWaiting = (): boolean => document.querySelector('[role=note]') !== null;

async function ask(): Promise<Exchange> {
  const button = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Send');
  const box = document.querySelector<HTMLInputElement>('[aria-label=Message]')!;
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(box, 'One?');
  await act(async () => void box.dispatchEvent(new Event('input', { bubbles: true })));
  let exchange!: Exchange;
  await act(async () => {
    button!.click();
    exchange = await script.next();
    await settle();
  });
  return exchange;
}

/** Lets a server say something, and the throttled list show it. */
async function serve(action: () => Promise<void>): Promise<void> {
  await act(async () => {
    await action();
    await new Promise((resolve) => setTimeout(resolve, 25));
  });
}

it('an answer grows on while the page is suspended, and is whole when it comes back', async () => {
  const exchange = await ask();
  await serve(() => exchange.say('Fir'));
  const loaded = Promise.withResolvers<string>();
  await act(async () => suspend(loaded.promise));
  expect(isWaiting()).toBe(true);
  await serve(() => exchange.answer('st.'));
  expect(exchange.isStopped).toBe(false);
  await act(async () => loaded.resolve('here'));
  await act(settle);
  expect([isWaiting(), page()]).toEqual([false, 'One?curious | First.']);
});

it('a transition that waits keeps the old page, and the answer grows in it', async () => {
  const exchange = await ask();
  await serve(() => exchange.say('Fir'));
  const loaded = Promise.withResolvers<string>();
  await act(async () => startTransition(() => suspend(loaded.promise)));
  await serve(() => exchange.say('st'));
  expect([isWaiting(), page()]).toEqual([false, 'One?curious | First']);
  await act(async () => loaded.resolve('here'));
  await serve(() => exchange.answer('.'));
  expect(page()).toBe('One?curious | First.');
});

it('a branch that is switched in a transition is shown whole, never mixed', async () => {
  const first = await ask();
  await serve(() => first.answer('First.'));
  const frames = new Set<string>();
  const watch = new MutationObserver(() => frames.add(page()));
  watch.observe(document.body, { childList: true, subtree: true, characterData: true });
  await act(async () => startTransition(() => void engine.rewind(engine.state.getState().messages[0]!.id)));
  await act(settle);
  await act(async () => startTransition(() => void engine.switchBranch('main')));
  await act(settle);
  watch.disconnect();
  expect([...frames]).toEqual(['One?curious', 'One?curious | First.']);
});

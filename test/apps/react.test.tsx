import { InMemoryContextStore } from 'contextree';
import { startTransition, StrictMode, Suspense, use, useEffect, useState, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { scriptedTransport, type Exchange, type ScriptedTransport } from '../support/transport.ts';
import { App } from './ContextApp.tsx';

/** The app on contextree in the company that React keeps: suspended neighbours, and moves that may wait. */
let script: ScriptedTransport;
/** Puts something beside the app that has to be waited for. */
let suspend: (promise: Promise<string> | undefined) => void;

function Neighbour(): ReactNode {
  const [promise, setPromise] = useState<Promise<string>>();
  useEffect(() => {
    suspend = setPromise;
  }, []);
  return promise ? <aside>{use(promise)}</aside> : null;
}

beforeEach(async () => {
  // React shows what happens at its own pace, on its production build, too, which knows of no act().
  Reflect.set(globalThis, 'IS_REACT_ACT_ENVIRONMENT', false);
  script = scriptedTransport();
  const container = document.body.appendChild(document.createElement('div'));
  const root = createRoot(container);
  onTestFinished(() => {
    root.unmount();
    container.remove();
  });
  root.render(
    <StrictMode>
      <Suspense fallback={<p role="note">Waiting</p>}>
        <App chatId="c" transport={script.transport} throttle={10} store={new InMemoryContextStore()} />
        <Neighbour />
      </Suspense>
    </StrictMode>,
  );
  await rest();
});

/** Longer than a list is throttled, and than React waits for others. */
const rest = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

const page = (): string =>
  [...document.querySelectorAll('li')]
    .map(({ textContent }) => textContent.replace(/(Edit)?Delete$/, ''))
    .join(' | ');
const isWaiting = (): boolean => document.querySelector('[role=note]') !== null;

async function ask(): Promise<Exchange> {
  const button = [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Send');
  const box = document.querySelector<HTMLInputElement>('[aria-label=Message]')!;
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(box, 'One?');
  box.dispatchEvent(new Event('input', { bubbles: true }));
  await rest();
  button!.click();
  const exchange = await script.next();
  await rest();
  return exchange;
}

/** Does something, and lets the page show it. */
async function serve(action: () => unknown): Promise<void> {
  await action();
  await rest();
}

it('an answer grows on while the page is suspended, and is whole when it comes back', async () => {
  const exchange = await ask();
  await serve(() => exchange.say('Fir'));
  const loaded = Promise.withResolvers<string>();
  suspend(loaded.promise);
  await expect.poll(isWaiting).toBe(true);
  await serve(() => exchange.answer('st.'));
  expect(exchange.isStopped).toBe(false);
  loaded.resolve('here');
  // React takes its time to show again what was hidden.
  await expect.poll(() => [isWaiting(), page()]).toEqual([false, 'One?curious | First.']);
});

it('a transition that waits keeps the old page, and the answer grows in it', async () => {
  const exchange = await ask();
  await serve(() => exchange.say('Fir'));
  const loaded = Promise.withResolvers<string>();
  await serve(() => startTransition(() => suspend(loaded.promise)));
  await exchange.say('st');
  await expect.poll(page).toBe('One?curious | First');
  expect(isWaiting()).toBe(false);
  await serve(() => loaded.resolve('here'));
  await serve(() => exchange.answer('.'));
  await expect.poll(page).toBe('One?curious | First.');
});

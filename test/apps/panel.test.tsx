import { assistantText, ContextEngine, InMemoryContextStore, user } from 'contextree';
import { ContextDevtools } from 'contextree/devtools';
import { createRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { page } from 'vitest/browser';
import { HOSTILE } from '../../scripts/hostileStyles.mjs';
import { scriptedTransport } from '../support/transport.ts';
import { Additions } from './ChatView.tsx';
import { App } from './ContextApp.tsx';

// The devtools and an app in one window: neither does harm to the other.

/** A chat that fills the window and makes room for the devtools. */
const ROOMY = `html, body, body > div:first-child, main { box-sizing: border-box; height: 100%; margin: 0; }
  body { padding: var(--contextree-inset-top) var(--contextree-inset-right) var(--contextree-inset-bottom) var(--contextree-inset-left); }
  main { display: flex; flex-direction: column; align-items: start; } ol { flex: 1; overflow: auto; }`;

/** Adds a style sheet to the page; gives what takes it away. */
function wear(css: string): () => void {
  const style = document.head.appendChild(document.createElement('style'));
  style.textContent = css;
  return () => style.remove();
}

const inPanel = (selector: string): HTMLElement | null =>
  [...document.querySelectorAll('div')]
    .map(({ shadowRoot }) => shadowRoot?.querySelector<HTMLElement>(selector))
    .find((found) => found) ?? null;

let close: () => Promise<void>;
afterEach(() => close());

beforeEach(async () => {
  Reflect.set(globalThis, 'IS_REACT_ACT_ENVIRONMENT', false);
  const store = new InMemoryContextStore();
  const engine = new ContextEngine({ store, chatId: 'c', userId: 'me' });
  engine.set(user('What is a graph?'), assistantText('Things, and what is between them.'));
  await engine.save();
  engine.dispose();
  const container = document.body.appendChild(document.createElement('div'));
  const root = createRoot(container);
  const [width, height] = [innerWidth, innerHeight];
  const undress = wear(ROOMY);
  close = async () => {
    root.unmount();
    undress();
    await page.viewport(width, height);
  };
  root.render(
    <Additions value={{ beneathChat: () => <ContextDevtools initialIsOpen theme="light" /> }}>
      <App chatId="c" transport={scriptedTransport().transport} store={store} />
    </Additions>,
  );
  await vi.waitUntil(() => inPanel('[role=treegrid] [role=row]') && inPanel('[role=separator]'), 15_000);
});

/** Whether a click in the middle of what this selector finds would hit it. */
function isHit(selector: string): boolean {
  const element = document.querySelector(selector) as Element;
  const { x, y, width, height } = element.getBoundingClientRect();
  return element === document.elementFromPoint(x + width / 2, y + height / 2);
}

it('the panel covers neither the text box nor Send, in windows of any size and either direction', async () => {
  onTestFinished(() => document.documentElement.removeAttribute('dir'));
  for (const dir of ['ltr', 'rtl'])
    for (const [width, height] of [
      [1440, 900],
      [1024, 768],
      [800, 600],
      [720, 450],
    ] as const) {
      document.documentElement.dir = dir;
      await page.viewport(width, height);
      const isOpen = (inPanel('.panel')?.getBoundingClientRect().height ?? 0) > 100;
      const hit = { isOpen, box: isHit('[aria-label=Message]'), send: isHit('form button') };
      expect(hit, `${width} x ${height}, ${dir}`).toEqual({ isOpen: true, box: true, send: true });
    }
});

it('the panel looks the same to the last pixel, whatever the style sheets of the app do', async () => {
  await page.viewport(1440, 900);
  const panel = inPanel('.panel') as HTMLElement;
  // What lies under it decides whether Chromium draws it in a layer of its own, and how it rounds there.
  panel.style.willChange = 'transform';
  const picture = (): Promise<string> =>
    page.screenshot({ element: panel, save: false, timeout: 15_000 }).catch(String);
  const before = await picture();
  const changed: string[] = [];
  for (const [name, css] of Object.entries(HOSTILE)) {
    const undress = wear(css);
    if ((await picture()) !== before) changed.push(name);
    undress();
  }
  expect(changed).toEqual([]);
});

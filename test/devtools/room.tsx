import {
  act,
  type BoundFunctions,
  type queries,
  render,
  type RenderResult,
  screen,
  waitFor,
  within,
} from '@testing-library/react';
import { assistantText, ContextEngine, ContextEngineProvider, InMemoryContextStore, user } from 'contextree';
import { ContextDevtools, type ContextDevtoolsProps } from 'contextree/devtools';
import { type ReactNode, StrictMode } from 'react';
import { beforeAll, expect, vi } from 'vitest';
import type { ViewName } from '../../devtools/view.ts';

// The room in which the stories of the panel play: an engine in memory, an app around it, and eyes that see into
// shadow roots, as those of a person do.
//
// What the panel shows is fetched, rendered and counted first, and a busy machine takes its time over each of these: a
// story that looks for something waits for it with `eventually`. `settle` is for what must not come.

// The panel's code comes when it is wanted, and so does that of estimates: a busy machine takes its time over a first
// import.
beforeAll(async () => {
  await Promise.all([import('../../devtools/Panel.tsx'), import('../../devtools/tools.ts')]);
  const engine = new ContextEngine({ store: new InMemoryContextStore(), chatId: 'warm', userId: 'me' });
  await engine.estimate();
});

/** An engine over memory with these messages, one after another: ids that begin with q are the person's. */
export async function chat(...ids: string[]): Promise<ContextEngine> {
  const engine = new ContextEngine({ store: new InMemoryContextStore(), chatId: 'c', userId: 'me' });
  await say(engine, ...ids);
  return engine;
}

/** Saves messages whose texts are their ids, and lets whoever watches draw them. */
export async function say(engine: ContextEngine, ...ids: string[]): Promise<void> {
  engine.set(...ids.map((id) => (id.startsWith('q') ? user(id, { id }) : assistantText(id, { id }))));
  await act(() => engine.save());
  await settle();
}

/** Shows an app with the devtools in it, in StrictMode. */
export function show(engine: ContextEngine, props: ContextDevtoolsProps = {}): RenderResult {
  return render(
    <App engine={engine}>
      <ContextDevtools {...props} />
    </App>,
  );
}

/** An app around its devtools. */
export function App({ engine, children }: { engine: ContextEngine; children: ReactNode }): ReactNode {
  return (
    <StrictMode>
      <ContextEngineProvider engine={engine}>
        <main>the app</main>
        {children}
      </ContextEngineProvider>
    </StrictMode>
  );
}

/** Shows the app, and opens the panel. */
export async function open(
  engine: ContextEngine,
  tab?: ViewName,
  props: ContextDevtoolsProps = {},
): Promise<RenderResult> {
  const result = show(engine, props);
  await press(opener());
  await eventually(panel);
  if (tab) await press(panel().getByRole('tab', { name: tab }));
  await eventually(() => expect(panel().queryByText(/^(Loading|Reading the chat)…/)).toBeNull());
  return result;
}

/** The insides of the shadow roots of the page. */
function shadows(): HTMLElement[] {
  return [...document.querySelectorAll('div')].flatMap(
    (host) => host.shadowRoot?.querySelector<HTMLElement>('[lang]') ?? [],
  );
}

/** The button that opens the panel; null while it is open. */
function findOpener(): HTMLElement | null {
  const name = 'Open contextree devtools';
  const found = shadows().map((root) => within(root).queryByRole('button', { name }));
  return found.find((button) => button !== null) ?? null;
}

export function opener(): HTMLElement {
  return findOpener() ?? missing('the button that opens the devtools');
}

/** The panel; null while it is closed. By selector: queries by role weigh every element, and there are many rows. */
export function findPanel(): HTMLElement | null {
  const found = shadows().map((root) => root.querySelector<HTMLElement>('section[aria-label]'));
  return found.find((section) => section !== null) ?? null;
}

export function panel(): BoundFunctions<typeof queries> {
  return within(findPanel() ?? missing('the panel'));
}

/** What is written on the rows that are mounted, top down. */
export function rows(): string[] {
  return rowElements().map((element) => element.textContent);
}

/** The row with these words. */
export function row(words: string): HTMLElement {
  const found = rowElements().find((element) => element.textContent.includes(words));
  return found ?? missing(`a row that says "${words}"`);
}

function rowElements(): HTMLElement[] {
  return [...(findPanel()?.querySelectorAll<HTMLElement>('[role=row], [role=treeitem]') ?? [])];
}

export async function press(element: HTMLElement): Promise<void> {
  await act(async () => element.click());
  await settle();
}

/** Copies by this button, and gives what was copied. */
export async function copied(name: string): Promise<string> {
  const write = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
  await press(panel().getByRole('button', { name }));
  await eventually(() => expect(write).toHaveBeenCalledOnce());
  const [[text] = ['']] = write.mock.calls;
  write.mockRestore();
  return text;
}

/** The files that the page gives from now on, in place of a download. */
export function downloads(): Blob[] {
  const files: Blob[] = [];
  vi.spyOn(URL, 'createObjectURL').mockImplementation((blob) => (files.push(blob as Blob), 'blob:x'));
  return files;
}

/** What nobody must see who is shown something by somebody else. */
export const SECRET: string = `sk-proj-${'a1B2c3D4'.repeat(5)}`;

/** Presses a key on an element, as long as someone listens there. */
export async function type(element: HTMLElement, ...keys: string[]): Promise<void> {
  for (const key of keys) {
    await act(async () => {
      element.dispatchEvent(
        new KeyboardEvent('keydown', { key, bubbles: true, composed: true, cancelable: true }),
      );
    });
  }
  await settle();
}

/** Waits until something holds, however long this machine takes over it; what it gives is given. */
export function eventually<T>(look: () => T): Promise<T> {
  return waitFor(look, { timeout: 15_000, interval: 5 });
}

/** Lets an animation frame pass, and what is ready by then: after it, what has not come was not asked for. */
export async function settle(): Promise<void> {
  for (const ms of [20, 5]) await act(() => new Promise((resolve) => void setTimeout(resolve, ms)));
}

/** Holds back animation frames until told to go on. */
export function stopFrames(): { asked(): number; go(): Promise<void> } {
  const waiting: FrameRequestCallback[] = [];
  const spy = vi
    .spyOn(globalThis, 'requestAnimationFrame')
    .mockImplementation((callback) => waiting.push(callback));
  return {
    asked: () => waiting.length,
    go: async () => {
      spy.mockRestore();
      await act(async () => waiting.forEach((callback) => callback(0)));
    },
  };
}

/** The element that has focus, in whatever shadow root it is. */
export function focused(): Element | null {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element;
}

function missing(what: string): never {
  throw new Error(`There is no ${what}. The page: ${screen.queryByText('the app') ? 'the app' : 'nothing'}`);
}

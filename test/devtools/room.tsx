import {
  act,
  type BoundFunctions,
  cleanup,
  type queries,
  render,
  type RenderResult,
  screen,
  within,
} from '@testing-library/react';
import { assistantText, ContextEngine, ContextEngineProvider, InMemoryContextStore, user } from 'contextree';
import { ContextDevtools, type ContextDevtoolsProps } from 'contextree/devtools';
import { type ReactNode, StrictMode } from 'react';
import { afterEach, beforeAll, beforeEach } from 'vitest';

// The room in which the stories of the panel play: an engine in memory, an app around it, and eyes that see into
// shadow roots, as those of a person do.

// The panel's code comes when it is wanted, and a busy machine takes its time over the first import.
beforeAll(() => import('../../devtools/Panel.tsx'));
beforeEach(() => localStorage.clear());
afterEach(cleanup);

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
  tab?: 'Graph' | 'Prompt' | 'Snapshot',
): Promise<RenderResult> {
  const result = show(engine);
  await press(opener());
  await settle();
  if (tab) await press(panel().getByRole('tab', { name: tab }));
  await settle();
  return result;
}

type Queries = BoundFunctions<typeof queries>;

/** What stands in some shadow root of the page. */
function inShadow(select: (queries: Queries) => HTMLElement | null): HTMLElement | null {
  for (const host of document.querySelectorAll('*')) {
    const root = host.shadowRoot?.querySelector<HTMLElement>('.root');
    const found = root && select(within(root));
    if (found) return found;
  }
  return null;
}

/** The button that opens the panel; null while it is open. */
export function findOpener(): HTMLElement | null {
  return inShadow((queries) => queries.queryByRole('button', { name: 'Open contextree devtools' }));
}

export function opener(): HTMLElement {
  return findOpener() ?? missing('the button that opens the devtools');
}

/** The panel's region; null while it is closed. */
export function findPanel(): HTMLElement | null {
  return inShadow((queries) => queries.queryByRole('region', { name: 'contextree devtools' }));
}

export function panel(): Queries {
  return within(findPanel() ?? missing('the panel'));
}

/** The rows of the graph that are mounted, top down: what is written on them. */
export function rows(): string[] {
  return panel()
    .queryAllByRole('row')
    .map((row) => row.textContent);
}

/** The row with these words. */
export function row(words: string): HTMLElement {
  const found = panel()
    .getAllByRole('row')
    .find((row) => row.textContent.includes(words));
  return found ?? missing(`a row that says "${words}"`);
}

export async function press(element: HTMLElement): Promise<void> {
  await act(async () => element.click());
  await settle();
}

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

/** Lets what is under way arrive: promises, the panel's code, an animation frame. */
export async function settle(ms = 20): Promise<void> {
  await act(() => new Promise((resolve) => void setTimeout(resolve, ms)));
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

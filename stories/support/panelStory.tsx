import type { ContextEngine } from 'contextree';
import { ContextDevtoolsPanel } from 'contextree/devtools/production';
import { expect, fireEvent, userEvent, waitFor, within } from 'storybook/test';
import { PanelPage } from './panelPage.tsx';

/** What the panel's stories have in common: an engine that is loaded first, shown beside a small app, and let go afterwards. */
export const panelStory = {
  component: ContextDevtoolsPanel,
  argTypes: { engine: { control: false }, theme: { control: 'radio', options: ['light', 'dark', 'system'] } },
  render: ({ theme = 'system' }: PanelArgs, { loaded }: Loaded) => (
    <PanelPage engine={engineIn(loaded)} theme={theme} />
  ),
  beforeEach:
    ({ loaded }: Loaded) =>
    () =>
      engineIn(loaded).dispose(),
} as const;

interface PanelArgs {
  readonly theme?: 'light' | 'dark' | 'system';
}

interface Loaded {
  readonly loaded: Record<string, unknown>;
}

/** A page, or what stands in a part of it, as a person finds things there. */
export type Canvas = ReturnType<typeof within>;

/** The engine that a story's loaders made. */
export function engineIn(loaded: Record<string, unknown>): ContextEngine {
  return loaded['engine'] as ContextEngine;
}

/** What stands in the panel's shadow root, when it is there; with a view's name, with that view open. */
export async function panelIn(page: HTMLElement, view?: string): Promise<Canvas> {
  const inside = await waitFor(() => {
    const roots = [...page.querySelectorAll('div')].map(({ shadowRoot }) =>
      shadowRoot?.querySelector('.root'),
    );
    const found = roots.find((root) => root?.querySelector('[role=tab]'));
    if (!found) throw new Error('The panel is not there yet.');
    return found as HTMLElement;
  });
  const panel = within(inside);
  if (view !== undefined) await userEvent.click(panel.getByRole('tab', { name: view }));
  return panel;
}

/** The rows that are mounted. */
export async function rowsIn(panel: Canvas): Promise<HTMLElement[]> {
  return within(await panel.findByRole('treegrid')).getAllByRole('row');
}

/** The row with these words. */
export async function rowOf(panel: Canvas, words: string | RegExp): Promise<HTMLElement> {
  const row = (await within(await panel.findByRole('treegrid')).findByText(words)).closest('[role=row]');
  await expect(row).not.toBeNull();
  return row as HTMLElement;
}

/** Selects a message and waits until it is shown, beside the graph or in its place. */
export async function read(panel: Canvas, words: string | RegExp): Promise<Canvas> {
  await userEvent.click(await rowOf(panel, words));
  return within(await panel.findByRole('region', { name: 'Selected message' }));
}

/** How many messages were found, in the words of the bar. */
export function hits(panel: Canvas): HTMLElement {
  return within(panel.getByRole('search')).getByRole('status');
}

/** The element that has the focus, inside of the panel. */
export function focused(of: HTMLElement): Element | null {
  return (of.getRootNode() as ShadowRoot).activeElement;
}

/** Opens a menu and picks a line of it. */
export async function pick(panel: Canvas, menu: string, line: string | RegExp): Promise<void> {
  await userEvent.click(await panel.findByRole('button', { name: menu }));
  await userEvent.click(await within(await panel.findByRole('menu')).findByText(line));
}

/** Types words into a field. `userEvent` would look for the focus in the page, and that stands on the shadow's host. */
export function writeInto(field: HTMLElement, value: string): void {
  void fireEvent.change(field, { target: { value } });
}

/** The same for a key. */
export function pressIn(field: HTMLElement, key: string): void {
  void fireEvent.keyDown(field, { key });
}

import { cleanup, render, screen, waitFor, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { InMemoryContextStore, type ContextStore } from 'contextree';
import { afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { createAnswers } from '../../stories/demo/answers.ts';
import { App } from '../../stories/demo/App.tsx';
import { createSettings } from '../../stories/demo/settings/settings.ts';
import { fetchLate } from '../../stories/demo/ui/late.tsx';

// The room in which the stories of the demo play: the whole app, on a store in memory.

/** What the app keeps its chats in; each test has one of its own. */
export let store: ContextStore;

/** Another store in its place, for the app that is opened next. */
export function renewStore(next: ContextStore = new InMemoryContextStore()): void {
  store = next;
}

/** To be called by each file of stories. Nothing is left of the app and what it kept when the next one begins. */
export function furnish(): void {
  // What comes with the first press is there.
  beforeAll(fetchLate);
  beforeEach(() => {
    renewStore();
    sessionStorage.clear();
    localStorage.clear();
    history.replaceState(null, '', '#/');
  });
  afterEach(cleanup);
}

type Answers = ReturnType<typeof createAnswers>;

/** Opens the app; answers come at once, unless they are others. */
export function openApp(changed: (answers: Answers) => Partial<Answers> = () => ({})): void {
  const settings = createSettings();
  const answers = createAnswers(settings, { speed: 0 });
  render(<App store={store} settings={settings} transport={{ ...answers, ...changed(answers) }} />);
}

export const message = (): HTMLTextAreaElement =>
  screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
export const articles = (name: 'You' | 'Assistant'): HTMLElement[] =>
  screen.queryAllByRole('article', { name });
/** A button of an article. */
export const on = (article: HTMLElement | undefined, name: string): HTMLElement =>
  within(article as HTMLElement).getByRole('button', { name });

/** Sends a question, and waits until it is answered and saved. */
export async function ask(question: string): Promise<void> {
  const before = screen.queryAllByRole('article').length;
  await userEvent.clear(message());
  await userEvent.type(message(), `${question}{Enter}`);
  await waitFor(() => expect(screen.getAllByRole('article')).toHaveLength(before + 2));
  await screen.findByRole('button', { name: 'Send' });
}

/** Presses an action of a chat in the list, which stands behind one button. */
export async function chatAction(action: 'Rename' | 'Delete', title: string): Promise<void> {
  await userEvent.click(await screen.findByRole('button', { name: `Chat actions: ${title}` }));
  await userEvent.click(screen.getByRole('button', { name: `${action} chat: ${title}` }));
}

import { act } from '@testing-library/react';
import { ContextEngine, ContextEngineProvider, InMemoryContextStore, assistantText, user } from 'contextree';
import type { ContextFragment, ContextStore } from 'contextree';
import type { UIMessage } from 'ai';
import { StrictMode, type ComponentProps, type ReactNode } from 'react';

// What the stories of the hooks begin with: an engine in memory, and a conversation whose ids are its words.

/** An engine over memory, which nobody shares. */
export function engineOn(store: ContextStore = new InMemoryContextStore(), chatId = 'chat'): ContextEngine {
  return new ContextEngine({ store, chatId, userId: 'me' });
}

/** Saves these messages, one after another: ids that begin with q are the person's, all others the assistant's. */
export async function say(engine: ContextEngine, ...ids: string[]): Promise<void> {
  await act(() => engine.set(...ids.map(messageNamed)).save());
}

function messageNamed(id: string): ContextFragment {
  return id.startsWith('q') ? user(id, { id }) : assistantText(id, { id });
}

/** A conversation of one question and three answers, the newest one shown. */
export async function threeAnswers(): Promise<ContextEngine> {
  const engine = engineOn();
  await say(engine, 'q1', 'a1');
  await act(() => engine.edit('a1', 'second'));
  await act(() => engine.edit('a1', 'third'));
  return engine;
}

/** Puts components under a provider with this engine, in StrictMode. */
export function under(engine: ContextEngine): (props: { children: ReactNode }) => ReactNode {
  return ({ children }) => (
    <StrictMode>
      <ContextEngineProvider engine={engine}>{children}</ContextEngineProvider>
    </StrictMode>
  );
}

/** Puts components under a provider that makes its engine of these options. */
export function inChat(
  options: Omit<ProviderOptions, 'engine'>,
): (props: { children: ReactNode }) => ReactNode {
  return ({ children }) => <ContextEngineProvider {...options}>{children}</ContextEngineProvider>;
}

type ProviderOptions = Extract<ComponentProps<typeof ContextEngineProvider>, { chatId: string }>;

/** An answer with these words. */
export function answer(id: string, text: string): UIMessage {
  return { id, role: 'assistant', parts: [{ type: 'text', text }] };
}

/** A question, which waits for its answer. */
export async function asked(engine: ContextEngine, id: string, answerId?: string): Promise<string> {
  const question = { ...answer(id, 'hi'), role: 'user' as const };
  return act(() => engine.ask(question, answerId === undefined ? {} : { id: answerId }));
}

/** Lets tasks and microtasks that are due run, inside of act. */
export async function settle(ms = 0): Promise<void> {
  await act(() => new Promise<void>((resolve) => void setTimeout(resolve, ms)));
}

/** The texts of the shown messages. */
export function shown(engine: ContextEngine): string[] {
  return engine.state
    .getState()
    .messages.map(({ parts }) => parts.map((part) => ('text' in part ? part.text : '')).join(''));
}

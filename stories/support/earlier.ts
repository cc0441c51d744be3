import { assistantText, ContextEngine, user, type ContextStore } from 'contextree';
import { USER } from '../demo/shell/Workspace.ts';

// What went on before a story begins.

/** The chat that a story is about. */
export const CHAT = 'story';

/** Talks in a chat with an engine of its own, as another visit would. */
export async function tell(
  store: ContextStore,
  chatId: string,
  talk: (engine: ContextEngine) => Promise<unknown>,
): Promise<void> {
  const engine = new ContextEngine({ store, chatId, userId: USER });
  await engine.ready();
  await talk(engine);
  engine.dispose();
}

/** Says these words, a question first, and answers in turn. Resolves to the ids of all messages shown by then. */
export async function say(engine: ContextEngine, ...words: readonly string[]): Promise<readonly string[]> {
  for (const [i, text] of words.entries()) engine.set(i % 2 === 0 ? user(text) : assistantText(text));
  await engine.save();
  return engine.state.getState().messages.map(({ id }) => id);
}

/** What the demo and the devtools remember of this browser; the rest of it belongs to Storybook. */
export function forgetTab(): void {
  for (const storage of [localStorage, sessionStorage]) {
    for (const key of Object.keys(storage)) if (/^(?:demo|contextree):/.test(key)) storage.removeItem(key);
  }
}

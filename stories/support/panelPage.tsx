import type { UIMessage } from 'ai';
import {
  ContextEngine,
  ContextEngineProvider,
  InMemoryContextStore,
  message,
  useEngine,
  useEngineState,
  type ContextEngineOptions,
  type ContextStore,
} from 'contextree';
import { ContextDevtoolsPanel, type ContextDevtoolsPanelProps } from 'contextree/devtools/production';
import type { CSSProperties, ReactNode } from 'react';
import { USER } from '../demo/shell/Workspace.ts';
import { CHAT, forgetTab, say } from './earlier.ts';
import '../demo/styles/index.css';

/**
 * A page that an app shares with the devtools panel. Both look at one engine; the panel is a guest, so whatever
 * happens in it, the app on the left goes on.
 */
export function PanelPage({ engine, ...panel }: PanelPageProps): ReactNode {
  return (
    <ContextEngineProvider engine={engine}>
      <div style={page}>
        <SmallApp />
        <ContextDevtoolsPanel {...panel} />
      </div>
    </ContextEngineProvider>
  );
}

interface PanelPageProps extends Omit<ContextDevtoolsPanelProps, 'engine'> {
  readonly engine: ContextEngine;
}

/** The least that is a chat app: what was said last, and a way to say more. */
function SmallApp(): ReactNode {
  const engine = useEngine();
  const branch = useEngineState((state) => state.branch);
  const messages = useEngineState((state) => state.messages);
  return (
    <main style={app}>
      <h1 style={{ font: '600 1rem/1.4 var(--sans)' }}>An app on {branch}</h1>
      <button type="button" className="button" onClick={() => void say(engine, 'Are you there?', 'I am.')}>
        Say something
      </button>
      {messages.slice(-8).map((message) => (
        <article key={message.id} aria-label={message.role === 'user' ? 'You' : 'Assistant'} dir="auto">
          {message.parts.map((part) => (part.type === 'text' ? part.text : ''))}
        </article>
      ))}
    </main>
  );
}

/** Beside each other; on a phone, where the panel would be a strip, one above the other. */
const columns = window.matchMedia('(max-width: 640px)').matches
  ? 'minmax(0, 1fr) minmax(0, 2fr) / minmax(0, 1fr)'
  : 'minmax(0, 1fr) / 16rem minmax(0, 1fr)';
const page: CSSProperties = {
  display: 'grid',
  grid: columns,
  blockSize: '100dvh',
};
const app: CSSProperties = {
  display: 'grid',
  alignContent: 'start',
  gap: '0.75rem',
  padding: '1rem',
  overflow: 'auto',
};

/** A chat in memory (or where the options say), opened and talked in. Whatever the panel remembered of an earlier story is forgotten. */
export async function openEngine(
  talk: (engine: ContextEngine) => Promise<unknown> = async () => {},
  options: Partial<ContextEngineOptions> = {},
): Promise<ContextEngine> {
  forgetTab();
  const store = new InMemoryContextStore();
  const engine = new ContextEngine({ store, chatId: CHAT, userId: USER, ...options });
  // What can't be read is a state of its own.
  await engine.ready().catch(() => {});
  await talk(engine);
  return engine;
}

/** A chat with 30 branches: questions that were asked otherwise, and for every fifth of them two answers. */
export async function thirtyBranches(engine: ContextEngine): Promise<void> {
  const trunk = await say(engine, ...Array.from({ length: 12 }, (_, i) => `Words ${i + 1} of the first try`));
  for (let branch = 2; branch <= 30; branch += 1) {
    if (branch % 5 === 0) {
      await engine.edit(engine.headMessageId ?? '', `Other answer of try ${branch - 1}`);
      continue;
    }
    await engine.switchBranch('main');
    await engine.rewind(trunk[(branch * 2) % trunk.length] ?? '');
    await say(engine, `Question of try ${branch}`, `Answer of try ${branch}`);
  }
  await engine.switchBranch('main');
  await engine.checkpoint('A good start', { at: trunk[10] ?? '' });
}

/** How many messages {@link tenThousandMessages} writes. */
export const MANY = 10_000;

/** A store that holds a chat of 10,000 messages: a long trunk, and a side branch of 20 after every 500 messages. */
export async function tenThousandMessages(): Promise<ContextStore> {
  const trunk: UIMessage[] = [];
  const sides: { readonly parent: UIMessage; readonly messages: readonly UIMessage[] }[] = [];
  for (let written = 0; written < MANY;) {
    const parent = numbered((written += 1));
    trunk.push(parent);
    if (trunk.length % 500 !== 0) continue;
    const messages = Array.from({ length: Math.min(20, MANY - written) }, () => numbered((written += 1)));
    sides.push({ parent, messages });
  }
  const store = new InMemoryContextStore();
  const engine = new ContextEngine({ store, chatId: CHAT, userId: USER });
  await engine.set(...trunk.map((one) => message(one))).save();
  for (const side of sides) {
    await engine.rewind(side.parent.id);
    await engine.set(...side.messages.map((one) => message(one))).save();
    await engine.switchBranch('main');
  }
  engine.dispose();
  return store;
}

function numbered(number: number): UIMessage {
  const role = number % 2 === 1 ? 'user' : 'assistant';
  return { id: `m${number}`, role, parts: [{ type: 'text', text: `Message ${number}` }] };
}

import { useChat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import { assistantText, ContextEngine, ContextEngineProvider, InMemoryContextStore, user } from 'contextree';
import { useContextChat } from 'contextree/ai';
import { createLocalTransport } from 'contextree/ai/local';
import { useState, type ReactNode } from 'react';
import { createDemoModel } from '../demo/model.ts';
import './docs.css';
import { sourceOf } from './sources.ts';

/** An example of a pager at work: a short conversation whose answer has three versions, and the file that shows it. */
export function PagerExample({ file, imports, children }: PagerExampleProps): ReactNode {
  const [engine] = useState(conversation);
  return (
    <div className="example">
      <ContextEngineProvider engine={engine}>
        <Chat>{children}</Chat>
      </ContextEngineProvider>
      <pre className="source" tabIndex={0} role="region" aria-label="Its code">
        {asInYourApp(sourceOf(`./pagers/${file}.tsx`), imports)}
      </pre>
    </div>
  );
}

interface PagerExampleProps {
  /** The example's file, without folder and ending. */
  readonly file: string;
  /** Where an app has the components from, by where this page has them from. */
  readonly imports: Readonly<Record<string, string>>;
  /** Shows a message. */
  readonly children: (message: UIMessage, retry: () => void) => ReactNode;
}

const transport = createLocalTransport({
  model: createDemoModel({ speed: 0 }),
  providerOptions: ({ attempt }) => ({ demo: { attempt } }),
});

function Chat({ children }: Pick<PagerExampleProps, 'children'>): ReactNode {
  const { messages, regenerate } = useChat(useContextChat({ transport }));
  return messages.map((message) => (
    <div key={message.id} className="example-message">
      {children(message, () => void regenerate({ messageId: message.id }))}
    </div>
  ));
}

function conversation(): ContextEngine {
  const engine = new ContextEngine({
    store: new InMemoryContextStore(),
    chatId: 'example',
    userId: 'reader',
  });
  void talk(engine);
  return engine;
}

async function talk(engine: ContextEngine): Promise<void> {
  engine.set(user('A name for a grey cat?'), assistantText('Pebble. Short, round, and grey.'));
  const { headMessageId } = await engine.save();
  const second = await engine.edit(headMessageId ?? '', 'Ash: what is left of a fire, and as soft.');
  await engine.edit(second, 'Professor Fog. He will arrive late, and in silence.');
}

function asInYourApp(source: string, imports: PagerExampleProps['imports']): string {
  return Object.entries(imports).reduce(
    (text, [here, there]) => text.replaceAll(`'${here}'`, `'${there}'`),
    source,
  );
}

import type { UIMessage } from 'ai';
import { type ContextEngine, useEngineState, ContextEngineProvider } from 'contextree';
import { ContextDevtoolsPanel } from 'contextree/devtools/production';
import type { ReactNode } from 'react';
import { Markdown } from '../markdown/Markdown.tsx';
import { Dialog } from '../ui/Dialog.tsx';

interface SessionCopyProps {
  readonly engine: ContextEngine;
  readonly onClose: () => void;
}

/** What was said in a session, and the devtools beside it. */
export function SessionCopy({ engine, onClose }: SessionCopyProps): ReactNode {
  return (
    <ContextEngineProvider engine={engine}>
      <Dialog title={`Read-only copy of ${engine.chat?.title ?? engine.chatId}`} onClose={onClose}>
        <div className="session">
          <Said />
          <div className="session-panel">
            <ContextDevtoolsPanel />
          </div>
        </div>
        <div className="form-actions">
          <button type="button" className="button" onClick={onClose}>
            Close
          </button>
        </div>
      </Dialog>
    </ContextEngineProvider>
  );
}

/** What was said on the branch that is shown. */
function Said(): ReactNode {
  const messages = useEngineState((state) => state.messages);
  return (
    <div className="session-words" tabIndex={0} role="group" aria-label="Messages">
      {messages.length === 0 && <p>Nothing was said in it.</p>}
      {messages.map((message, i) => (
        <article key={i} data-role={message.role} aria-label={message.role === 'user' ? 'You' : 'Assistant'}>
          <Markdown text={wordsOf(message)} />
        </article>
      ))}
    </div>
  );
}

function wordsOf({ parts }: UIMessage): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n\n');
}

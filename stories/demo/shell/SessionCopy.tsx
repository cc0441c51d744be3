import type { UIMessage } from 'ai';
import { type ContextEngine, useEngineState, ContextEngineProvider } from 'contextree';
import { ContextDevtoolsPanel } from 'contextree/devtools/production';
import { useEffect, useEffectEvent, useState, type ReactNode } from 'react';
import { Markdown } from '../markdown/Markdown.tsx';
import { Dialog } from '../ui/Dialog.tsx';
import { useNotices } from './Notices.tsx';

/**
 * Shows a session file that is dropped on the app above it, read-only, with the devtools beside. Nothing of it is stored, and
 * the app behind it stays as it was. Session files are recognised by the names that the devtools give them.
 */
export function SessionDrop(): ReactNode {
  const { tell } = useNotices();
  const [engine, setEngine] = useState<ContextEngine>();
  const open = useEffectEvent(async (file: File): Promise<void> => {
    try {
      const { openSession } = await import('contextree/session');
      setEngine(await openSession(file));
    } catch (error) {
      tell({ key: 'session', text: error instanceof Error ? error.message : String(error) });
    }
  });
  useEffect(() => {
    const drop = (event: DragEvent): void => {
      const [file] = event.dataTransfer?.files ?? [];
      const isOnPanel = event.composedPath().some((place) => place instanceof ShadowRoot);
      if (!file || !/^contextree-session.*\.json$/.test(file.name) || isOnPanel) return;
      event.preventDefault();
      // It is no attachment, and nothing is held over the page any more.
      event.stopImmediatePropagation();
      dispatchEvent(new DragEvent('dragleave'));
      void open(file);
    };
    addEventListener('drop', drop, true);
    return () => removeEventListener('drop', drop, true);
  }, []);
  useEffect(() => () => engine?.dispose(), [engine]);
  return engine && <SessionCopy engine={engine} onClose={() => setEngine(undefined)} />;
}

interface SessionCopyProps {
  readonly engine: ContextEngine;
  readonly onClose: () => void;
}

function SessionCopy({ engine, onClose }: SessionCopyProps): ReactNode {
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

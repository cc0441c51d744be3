import type { ContextEngine } from 'contextree';
import { useEffect, useEffectEvent, useState, type ReactNode } from 'react';
import { late } from '../ui/late.tsx';
import { useNotices } from './Notices.tsx';

const SessionCopy = late(async () => (await import('./SessionCopy.tsx')).SessionCopy);

/**
 * Shows a session file that is dropped on the app above it, read-only, with the devtools beside. Nothing of it is stored, and
 * the app behind it stays as it was. Session files are recognised by the names that the devtools give them. It listens from the
 * start, and only what it shows is loaded late: while nobody listens, a dropped file is an attachment.
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

import { useEngine, useEngineState } from 'contextree';
import { useMemo } from 'react';
import type { Fate } from '../attachmentTray.ts';
import { wasSentThrough } from './keepUntilSaved.ts';

/**
 * Tells the fate of a sent message, as far as the store knew when the chat was opened: after a reload the question may be on
 * the disk though the page had no time to note it. A message that was sent here while the chat was still being read is on its
 * way. Undefined while the chat is being read.
 */
export function useSentBefore(): ((messageId: string) => Fate) | undefined {
  const engine = useEngine();
  const isRead = useEngineState(({ status }) => status !== 'loading');
  return useMemo(() => {
    if (!isRead) return undefined;
    return (messageId) => {
      if (engine.node(messageId) === undefined)
        return wasSentThrough(engine, messageId) ? 'on its way' : 'lost';
      return engine.state.getState().saveState.pending > 0 ? 'on its way' : 'saved';
    };
  }, [engine, isRead]);
}

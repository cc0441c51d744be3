import { isContextError, useEngineState } from 'contextree';
import { isNewChat, unsentText } from '../unsent.ts';

/**
 * The state of a chat: being read; known; begun here and not yet sent; at an address that is unknown in this browser; deleted
 * before, with text that the person was writing; deleted while it was open; or impossible to read.
 */
export type Standing = 'loading' | 'open' | 'unsent' | 'unknown' | 'gone' | 'deleted' | 'broken';

/** How the chat of the engine around it stands. */
export function useStanding(chatId: string): Standing {
  const status = useEngineState((state) => state.status);
  const error = useEngineState((state) => state.error);
  const isStored = useEngineState((state) => state.chat !== null);
  if (status === 'error') return isContextError(error, 'chat-deleted') ? 'deleted' : 'broken';
  if (isStored) return 'open';
  if (isNewChat(chatId)) return 'unsent';
  if (status === 'loading') return 'loading';
  return unsentText(chatId) === '' ? 'unknown' : 'gone';
}

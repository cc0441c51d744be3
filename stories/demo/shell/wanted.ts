import { useEngine } from 'contextree';
import { useEffect } from 'react';

/** The message that a person chose in a list of results, until its chat shows it. */
let wanted: { readonly chatId: string; readonly key: string } | undefined;
const listeners = new Set<() => void>();

/** Has a chat show a message, as soon as that chat is open. */
export function wantMessage(chatId: string, key: string): void {
  wanted = { chatId, key };
  for (const tell of listeners) tell();
}

/** Shows the message that a person chose, once the chat `isOpen`. */
export function useWantedMessage(isOpen: boolean): void {
  const engine = useEngine();
  useEffect(() => {
    if (!isOpen) return undefined;
    const look = (): void => {
      if (wanted?.chatId !== engine.chatId) return;
      const { key } = wanted;
      wanted = undefined;
      // A message that was deleted meanwhile is not shown; the chat is.
      void import('./showMessage.ts').then(({ showMessage }) => showMessage(engine, key)).catch(() => {});
    };
    look();
    listeners.add(look);
    return () => void listeners.delete(look);
  }, [engine, isOpen]);
}

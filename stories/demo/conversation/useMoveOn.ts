import { useWorkspace } from '../shell/Workspace.ts';
import { takeUnsentText } from '../unsent.ts';
import { takeUnsentFiles } from '../unsentFiles.ts';

/** The way out of a chat that nothing can be said in: a new chat, with the words and files that were to be sent here. */
export function useMoveOn(chatId: string): () => Promise<void> {
  const { store, newChat } = useWorkspace();
  return async () => {
    const files = await takeUnsentFiles(store, chatId);
    newChat(takeUnsentText(chatId), files);
  };
}

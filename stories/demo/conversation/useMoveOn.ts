import { useWorkspace } from '../shell/Workspace.ts';
import { takeUnsentText } from '../unsent.ts';
import { takeUnsentFiles } from '../unsentFiles.ts';

/** Leaves a chat in which nothing can be said, for a new chat with the text and files that were to be sent here. */
export function useMoveOn(chatId: string): () => Promise<void> {
  const { store, newChat } = useWorkspace();
  return async () => {
    const files = await takeUnsentFiles(store, chatId);
    newChat(takeUnsentText(chatId), files);
  };
}

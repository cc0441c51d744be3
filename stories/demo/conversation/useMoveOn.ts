import { isFileUIPart, type UIMessage } from 'ai';
import { useContextChat } from 'contextree/ai';
import { useWorkspace } from '../shell/Workspace.ts';
import { partsOf, plainText } from '../stored.ts';
import { joined, takeEditedTexts, takeUnsentText } from '../unsent.ts';
import { takeUnsentFiles, unsent } from '../unsentFiles.ts';

/**
 * Leaves a chat in which nothing can be said, for a new chat with what was to be said here: the text and files in the box, and
 * questions at its end that nobody answered. A deleted chat takes its half-written edits along, too; elsewhere they stay with their
 * messages.
 */
export function useMoveOn(chatId: string, isDeleted = false): () => Promise<void> {
  const { store, newChat } = useWorkspace();
  const { chat } = useContextChat();
  return async () => {
    const unanswered = unansweredAtEnd(chat.messages);
    const files = await takeUnsentFiles(store, chatId);
    // One that could not be saved is also among what was sent from the box.
    const others = unanswered.filter(({ id }) => !files.some(({ sentWith }) => sentWith === id));
    const theirFiles = unsent(others.flatMap((one) => partsOf(one).filter(isFileUIPart)));
    const words = takeUnsentText(chatId, new Map(unanswered.map((one) => [one.id, plainText(one)])));
    const edits = isDeleted ? takeEditedTexts(chatId) : [];
    newChat(joined([...edits, words]), [...theirFiles, ...files]);
  };
}

function unansweredAtEnd(messages: readonly UIMessage[]): readonly UIMessage[] {
  return messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
}

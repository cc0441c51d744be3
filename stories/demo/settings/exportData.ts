import type { Chat, ChatRecords, ContextStore, MessageNode } from 'contextree';
import { USER } from '../shell/Workspace.ts';

/** Everything that a person said and was told in this browser, as one value that can be written to a file. */
export interface Export {
  readonly format: 'contextree-demo';
  readonly version: 1;
  /** ISO 8601. */
  readonly exportedAt: string;
  /** The last updated first. */
  readonly chats: readonly ExportedChat[];
}

/** A chat with all of its versions. */
interface ExportedChat {
  readonly chat: Chat;
  readonly branches: ChatRecords['branches'];
  readonly checkpoints: ChatRecords['checkpoints'];
  /** In the order in which they were written. */
  readonly messages: readonly MessageNode[];
}

/** Reads all chats, one after another. Settings, and the key among them, are not part of it. */
export async function exportData(store: ContextStore): Promise<Export> {
  const chats: ExportedChat[] = [];
  for (const { id } of await store.listChats({ userId: USER })) {
    const { chat, branches, checkpoints, nodes } = await store.load(id);
    if (chat === undefined) continue;
    const messages = await store.getNodes(
      id,
      nodes.map((node) => node.id),
    );
    chats.push({ chat, branches, checkpoints, messages });
  }
  return { format: 'contextree-demo', version: 1, exportedAt: new Date().toISOString(), chats };
}

/** Hands a value to the person as a JSON file. */
export function downloadJson(name: string, value: unknown): void {
  const address = URL.createObjectURL(
    new Blob([JSON.stringify(value, null, 2)], { type: 'application/json' }),
  );
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

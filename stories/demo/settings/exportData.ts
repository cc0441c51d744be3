import type { ChatRow, ContextStore } from 'contextree';
import type { Body, ChatDelta, MessageRecord } from 'contextree/store';
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

/** A chat with all of its versions, as its records, which can be joined with others. */
export interface ExportedChat extends ChatDelta {
  readonly chat: ChatRow;
}

/** Reads all chats, one after another. Settings, and the key among them, are not part of it. */
export async function exportData(store: ContextStore): Promise<Export> {
  const chats: ExportedChat[] = [];
  for (const chat of await store.listChats({ userId: USER })) chats.push(await exportChat(store, chat));
  return { format: 'contextree-demo', version: 1, exportedAt: new Date().toISOString(), chats };
}

async function exportChat(store: ContextStore, chat: ChatRow): Promise<ExportedChat> {
  const { messages, ends, marks } = await store.load(chat.id);
  const keys = messages.map(({ key }) => key);
  const bodies = await store.bodies(chat.id, keys, messages);
  return {
    chat,
    messages: messages.map((record) => withWords(withoutPlace(record), bodies.get(record.key))),
    ends: ends.map(withoutPlace),
    marks: marks.map(withoutPlace),
  };
}

/** A message with the body of its shown version; without, where that was lost or still grows. */
function withWords(record: MessageRecord, body: Body | undefined): MessageRecord {
  if (!body || body.isDraft === true) return record;
  const versions = record.versions.map((version) => {
    const isIts = version.rev === body.rev && version.by === body.by && version.sum === body.sum;
    return isIts ? { ...version, body: body.message } : version;
  });
  return { ...record, versions };
}

/** A record without the number that it has in this database: it has another one in the next. */
function withoutPlace<T extends { readonly seq?: number }>(record: T): T {
  const { seq: _place, ...own } = record;
  return own as T;
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

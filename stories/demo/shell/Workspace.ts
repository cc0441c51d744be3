import type { ChatTransport, UIMessage } from 'ai';
import type { ContextStore } from 'contextree';
import { createContext, use } from 'react';
import type { Settings } from '../settings/settings.ts';
import type { UnsentFile } from '../unsentFiles.ts';

/** What the whole app stands on: where chats are kept, who answers, and what concerns all of it. Functions are stable. */
export interface Workspace {
  readonly store: ContextStore;
  readonly transport: ChatTransport<UIMessage>;
  readonly settings: Settings;
  /** Opens this tab's unsent chat; words and files that are given are put where the first message is written. */
  readonly newChat: (words?: string, files?: readonly UnsentFile[]) => void;
  /** Shows all anew, from the store: after it could not be read, and can be now. */
  readonly startOver: () => void;
  /** Forgets every word, setting and secret, here and in other tabs. */
  readonly clearAll: () => Promise<void>;
}

/** Provided once, by the app. */
export const WorkspaceContext = createContext<Workspace | null>(null);

/** The workspace of the app around it. */
export function useWorkspace(): Workspace {
  const workspace = use(WorkspaceContext);
  if (workspace === null) throw new Error('Render this inside <App>.');
  return workspace;
}

/** Whose chats these are. There is one person at this browser. */
export const USER = 'local';

import type { ChatTransport, UIMessage } from 'ai';
import type { ContextStore } from 'contextree';
import { createContext, use } from 'react';
import type { Settings } from '../settings/settings.ts';
import type { UnsentFile } from '../unsentFiles.ts';

/** What the whole app shares: the store, the transport, the settings, and actions on all of it. Functions are stable. */
export interface Workspace {
  readonly store: ContextStore;
  readonly transport: ChatTransport<UIMessage>;
  readonly settings: Settings;
  /** Opens this tab's unsent chat; given text and files are put into its box. */
  readonly newChat: (words?: string, files?: readonly UnsentFile[]) => void;
  /** Mounts everything anew, after the store could not be read and now can. */
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

/** The user of all chats: there is one person at this browser. */
export const USER = 'local';

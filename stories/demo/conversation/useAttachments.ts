import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { createTray, type Tray } from '../attachmentTray.ts';
import { useAnnounce } from '../shell/Announcer.tsx';
import { useNotices } from '../shell/Notices.tsx';
import { useWorkspace } from '../shell/Workspace.ts';
import type { UnsentFile } from '../unsentFiles.ts';
import { useSentBefore } from './useSentBefore.ts';

/** The files of the next message, and what can be done with them. Functions are stable. */
export interface Attachments extends Pick<Tray, 'release' | 'whenRead'> {
  /** In the order in which they were attached. */
  readonly files: readonly UnsentFile[];
  /** Puts files after the others, and says which can't be taken, and why. Resolves to those that were; never rejects. */
  readonly attach: (files: readonly File[]) => Promise<readonly UnsentFile[]>;
  readonly remove: (file: UnsentFile) => void;
}

/** What is attached to the next message of a chat, which stays the same chat: kept across reloads, as its words are. */
export function useAttachments(chatId: string): Attachments {
  const { store } = useWorkspace();
  const { tell } = useNotices();
  const announce = useAnnounce();
  const [tray] = useState(() => createTray(store, chatId));
  const files = useSyncExternalStore(tray.subscribe, tray.files);
  const fateOf = useSentBefore();
  useEffect(() => {
    if (fateOf !== undefined) void tray.bringBack(fateOf);
  }, [tray, fateOf]);

  const actions = useMemo(() => {
    return {
      attach: async (given: readonly File[]) => {
        const { files, refusals } = await tray.attach(given);
        if (files.length > 0) announce(`Attached ${files.map(nameOf).join(', ')}`);
        if (refusals.length > 0) tell({ key: 'attach', text: refusals.join(' '), lasts: 15_000 });
        return files;
      },
      remove: (file: UnsentFile) => {
        tray.remove(file);
        announce(`Removed ${nameOf(file)}`);
      },
      release: tray.release,
      whenRead: tray.whenRead,
    };
  }, [tray, tell, announce]);
  return { files, ...actions };
}

/** What a file is called; its kind, where it has no name. */
export function nameOf({ part }: UnsentFile): string {
  return part.filename ?? part.mediaType;
}

import { useEffect, useRef, type ReactNode } from 'react';
import { DataMenu } from '../settings/DataMenu.tsx';
import { ModelSettingsButton } from '../settings/ModelSettings.tsx';
import type { Drawer } from '../shell/useDrawer.ts';
import { openPalette } from '../shell/usePalette.ts';
import { KeySheetButton } from '../shell/KeySheet.tsx';
import { MESSAGE_BOX } from '../conversation/Composer.tsx';
import { Icon } from '../ui/Icon.tsx';
import { ChatList } from './ChatList.tsx';

/** What stands beside the conversation: all chats, and what concerns all of them. On narrow screens it is a drawer. */
export function Sidebar({ current, drawer, canExport }: SidebarProps): ReactNode {
  const { isOpen, close } = drawer;
  const closer = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isOpen) closer.current?.focus();
  }, [isOpen]);
  return (
    <>
      {isOpen && <div className="backdrop" onClick={close} aria-hidden="true" />}
      <div id="chats" className="sidebar" data-open={isOpen || undefined}>
        <header className="brand">
          <button
            type="button"
            className="skip"
            onClick={() => document.getElementById(MESSAGE_BOX)?.focus()}
          >
            Skip to the message box
          </button>
          <span>contextree</span>
          <button
            type="button"
            className="icon-button"
            aria-label="Find"
            title="Find anything"
            onClick={() => {
              close();
              openPalette();
            }}
          >
            <Icon name="search" />
          </button>
          <KeySheetButton />
          <button
            ref={closer}
            type="button"
            className="icon-button drawer-only"
            aria-label="Close chats"
            onClick={close}
          >
            <Icon name="close" />
          </button>
        </header>
        <ChatList current={current} onChoose={close} />
        <footer className="sidebar-foot">
          <ModelSettingsButton />
          <DataMenu onKeep={close} canExport={canExport} />
        </footer>
      </div>
    </>
  );
}

interface SidebarProps {
  /** The id of the chat that is shown. */
  readonly current: string;
  readonly drawer: Drawer;
  /** Whether the chats can be read, to be taken along. */
  readonly canExport: boolean;
}

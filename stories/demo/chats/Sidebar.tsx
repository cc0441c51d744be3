import type { ReactNode } from 'react';
import { DataMenu } from '../settings/DataMenu.tsx';
import { ModelSettingsButton } from '../settings/ModelSettings.tsx';
import { Icon } from '../ui/Icon.tsx';
import { ChatList } from './ChatList.tsx';

/** What stands beside the conversation: all chats, and what concerns all of them. On narrow screens it is a drawer. */
export function Sidebar({ current, isOpen, onClose }: SidebarProps): ReactNode {
  return (
    <>
      {isOpen && <div className="backdrop" onClick={onClose} aria-hidden="true" />}
      <div
        id="chats"
        className="sidebar"
        data-open={isOpen || undefined}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && !event.defaultPrevented) onClose();
        }}
      >
        <div className="brand">
          <span>contextree</span>
          <button type="button" className="icon-button drawer-only" aria-label="Close chats" onClick={onClose}>
            <Icon name="close" />
          </button>
        </div>
        <ChatList current={current} onChoose={onClose} />
        <div className="sidebar-foot">
          <ModelSettingsButton />
          <DataMenu />
        </div>
      </div>
    </>
  );
}

interface SidebarProps {
  /** The id of the chat that is shown. */
  readonly current: string;
  /** Whether the drawer is open, where it is one. */
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

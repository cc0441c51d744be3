import type { ReactNode } from 'react';
import { Icon } from '../ui/Icon.tsx';

/** Opens the drawer of chats, where the screen has no room for them. */
export function MenuButton({ isOpen, onOpen }: MenuButtonProps): ReactNode {
  return (
    <button
      type="button"
      className="icon-button drawer-only"
      aria-label="Open chats"
      aria-expanded={isOpen}
      aria-controls="chats"
      onClick={onOpen}
    >
      <Icon name="menu" />
    </button>
  );
}

interface MenuButtonProps {
  readonly isOpen: boolean;
  readonly onOpen: () => void;
}

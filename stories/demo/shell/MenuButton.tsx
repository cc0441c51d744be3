import type { ReactNode } from 'react';
import { Icon } from '../ui/Icon.tsx';
import type { Drawer } from './useDrawer.ts';

/** Opens the drawer of chats, where the screen has no room for them. */
export function MenuButton({ drawer }: { readonly drawer: Drawer }): ReactNode {
  const { isOpen, open, opener } = drawer;
  return (
    <button
      ref={opener}
      type="button"
      className="icon-button drawer-only"
      aria-label="Open chats"
      aria-expanded={isOpen}
      aria-controls="chats"
      onClick={open}
    >
      <Icon name="menu" />
    </button>
  );
}

import { useEffect, useState } from 'react';

/** Whether the command palette is open: Ctrl+K (Cmd+K on a Mac) opens and closes it, not over another dialog. */
export function usePalette(): { readonly isOpen: boolean; readonly close: () => void } {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
      if (!(ctrlKey || metaKey) || altKey || shiftKey || key.toLowerCase() !== 'k') return;
      event.preventDefault();
      if (document.querySelector('dialog[open]:not(.palette)') === null) setOpen((open) => !open);
    };
    const open = (): void => setOpen(true);
    addEventListener('keydown', press);
    wishes.addEventListener('open', open);
    return () => {
      removeEventListener('keydown', press);
      wishes.removeEventListener('open', open);
    };
  }, []);
  return { isOpen, close: () => setOpen(false) };
}

/** Opens the command palette, for those without the key. */
export function openPalette(): void {
  wishes.dispatchEvent(new Event('open'));
}

const wishes = new EventTarget();

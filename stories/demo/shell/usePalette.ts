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
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  return { isOpen, close: () => setOpen(false) };
}

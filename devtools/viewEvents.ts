import type { DragEvent, KeyboardEvent } from 'react';

/**
 * Opens a file when it is dropped on the views, and allows that while it is dragged over them, when a browser shows no file yet.
 * Without this, the browser would leave the page for the file.
 */
export function openDropped(event: DragEvent, open: (file: File) => void): void {
  const { types, files } = event.dataTransfer;
  if (!types.includes('Files')) return;
  event.preventDefault();
  const [file] = files;
  if (file) open(file);
}

/** Ends the selection on Escape, where no view used the key for a field or a menu of its own. */
export function endSelection(event: KeyboardEvent, selected: string | undefined, end: () => void): void {
  if (event.key !== 'Escape' || event.defaultPrevented || selected === undefined) return;
  event.preventDefault();
  end();
}

import { useEffect, useEffectEvent, useState } from 'react';

/** Takes files that are dropped anywhere on the page. Returns whether some are dragged over it right now. */
export function useFileDrop(onFiles: (files: readonly File[]) => unknown): boolean {
  const [isOver, setOver] = useState(false);
  const take = useEffectEvent(onFiles);
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (!carriesFiles(event.dataTransfer)) return;
      // Without this the browser leaves the app and opens the file.
      event.preventDefault();
      setOver(true);
    };
    const leave = ({ relatedTarget }: DragEvent): void => {
      if (relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent): void => {
      setOver(false);
      // The devtools take what is dropped on them.
      if (event.defaultPrevented || !carriesFiles(event.dataTransfer)) return;
      event.preventDefault();
      take([...event.dataTransfer.files]);
    };
    addEventListener('dragover', over);
    addEventListener('dragleave', leave);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('dragleave', leave);
      removeEventListener('drop', drop);
    };
  }, []);
  return isOver;
}

function carriesFiles(data: DataTransfer | null): data is DataTransfer {
  return data !== null && data.types.includes('Files');
}

/** The pasted files. Text from an office program comes with a picture of itself, and counts as text. */
export function filesIn({ files, types }: DataTransfer): readonly File[] {
  const isText =
    types.includes('text/plain') && ['text/html', 'text/rtf'].some((type) => types.includes(type));
  return isText ? [] : [...files];
}

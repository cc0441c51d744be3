import { useEffect, useEffectEvent, useId, useLayoutEffect, useRef, type ReactNode } from 'react';

/**
 * A modal dialog: the browser's own, so that focus, Escape and the page behind it behave as everywhere. It is open as long as
 * it is rendered; the focus goes to its first field or button, and returns to where it came from. Going to another chat, with
 * the browser's Back, closes it.
 */
export function Dialog({ title, isWide = false, onClose, children }: DialogProps): ReactNode {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // Closed before it is taken off the page: only then the browser puts the focus back.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  const leave = useEffectEvent(onClose);
  useEffect(() => {
    const left = (): void => leave();
    addEventListener('hashchange', left);
    return () => removeEventListener('hashchange', left);
  }, []);
  return (
    <dialog
      ref={ref}
      className="dialog"
      data-wide={isWide || undefined}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className="dialog-body">
        <h2 id={titleId}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}

interface DialogProps {
  readonly title: string;
  /** Whether it is for reading: as wide as the window has room for. */
  readonly isWide?: boolean;
  /** Asked to close, with Escape. */
  readonly onClose: () => void;
  readonly children: ReactNode;
}

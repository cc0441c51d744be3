import { useId, useLayoutEffect, useRef, type ReactNode } from 'react';

/**
 * A modal dialog: the browser's own, so that focus, Escape and the page behind it behave as everywhere.
 * It is open as long as it is rendered; focus goes to its first field or button, and returns to where it came from.
 */
export function Dialog({ title, onClose, children }: DialogProps): ReactNode {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // Closed before it is taken off the page: only then the browser puts the focus back.
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      className="dialog"
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
  /** Asked to close, with Escape. */
  readonly onClose: () => void;
  readonly children: ReactNode;
}

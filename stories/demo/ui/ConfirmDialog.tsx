import type { ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { Dialog } from './Dialog.tsx';

/** Asks before an action that people may regret. Cancel comes first, and has the focus. */
export function ConfirmDialog({
  title,
  confirm,
  onConfirm,
  onClose,
  children,
}: ConfirmDialogProps): ReactNode {
  // Closed first, so that the focus is back where the dialog came from when that goes away.
  const act = (): void => {
    flushSync(onClose);
    onConfirm();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="dialog-text">{children}</div>
      <div className="form-actions">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" className="button button-danger" onClick={act}>
          {confirm}
        </button>
      </div>
    </Dialog>
  );
}

interface ConfirmDialogProps {
  readonly title: string;
  /** The word on the button that does it. */
  readonly confirm: string;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

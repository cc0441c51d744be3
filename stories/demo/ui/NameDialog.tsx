import { useId, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { Dialog } from './Dialog.tsx';

/** Asks for a name: `Name`, prefilled and selected; Enter saves. A refusal is shown and the dialog stays. */
export function NameDialog({
  title,
  initial,
  confirm = 'Save',
  warn,
  onSave,
  onClose,
}: NameDialogProps): ReactNode {
  const [name, setName] = useState(initial);
  const [refusal, setRefusal] = useState<string | null>(null);
  const isSaving = useRef(false);
  const noteId = useId();
  const warning = warn?.(name.trim());
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (isSaving.current) return;
    isSaving.current = true;
    try {
      await onSave(name.trim());
      onClose();
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error));
    }
    isSaving.current = false;
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="form" onSubmit={(event) => void save(event)}>
        <label className="field">
          <span>Name</span>
          <input
            value={name}
            dir="auto"
            autoComplete="off"
            maxLength={200}
            aria-describedby={noteId}
            onFocus={(event) => event.target.select()}
            onChange={(event) => {
              setName(event.target.value);
              setRefusal(null);
            }}
          />
        </label>
        {refusal !== null && (
          <p id={noteId} className="form-error" role="alert">
            {refusal}
          </p>
        )}
        {refusal === null && warning !== undefined && (
          <p id={noteId} className="form-note" role="status">
            {warning}
          </p>
        )}
        <div className="form-actions">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button button-primary" disabled={name.trim() === ''}>
            {confirm}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface NameDialogProps {
  readonly title: string;
  readonly initial: string;
  /** The word on the button; default `Save`. */
  readonly confirm?: string;
  /** What saving under this name would change, in words; undefined where nothing. */
  readonly warn?: (name: string) => string | undefined;
  /** Takes the trimmed name; what it throws is shown. */
  readonly onSave: (name: string) => Promise<unknown>;
  readonly onClose: () => void;
}

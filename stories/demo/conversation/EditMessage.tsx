import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { isComposing, isPlainEnter } from './Composer.tsx';

/** The text of a message, to be changed: Enter sends, Shift+Enter breaks the line, Escape cancels. */
export function EditMessage({ text, onSend, onCancel }: EditMessageProps): ReactNode {
  const [edited, setEdited] = useState(text);
  const textbox = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const box = textbox.current;
    box?.focus();
    box?.setSelectionRange(box.value.length, box.value.length);
  }, []);
  const isEmpty = edited.trim() === '';
  const send = (): void => {
    if (!isEmpty) onSend(edited.trim());
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && !isComposing(event)) onCancel();
    else if (isPlainEnter(event)) send();
    else return;
    event.preventDefault();
  };
  return (
    <form
      className="edit"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={textbox}
        aria-label="Edited text"
        dir="auto"
        rows={2}
        value={edited}
        onChange={(event) => setEdited(event.target.value)}
        onKeyDown={press}
      />
      <div className="form-actions">
        <button type="button" className="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" className="button button-primary" disabled={isEmpty}>
          Send edit
        </button>
      </div>
    </form>
  );
}

interface EditMessageProps {
  readonly text: string;
  readonly onSend: (text: string) => void;
  readonly onCancel: () => void;
}

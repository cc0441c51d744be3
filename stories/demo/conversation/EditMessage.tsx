import { useEngine } from 'contextree';
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { directionOf, turnBefore } from '../ui/direction.ts';
import { editedText, keepEditedText } from '../unsent.ts';
import { isComposing, isPlainEnter } from './Composer.tsx';

/**
 * The text of a message, to be changed: Enter sends, Shift+Enter breaks the line, Escape cancels. What is half written
 * outlives a reload, and is there again when the message is edited the next time.
 */
export function EditMessage({ messageId, text, canSend, onSend, onCancel }: EditMessageProps): ReactNode {
  const { chatId } = useEngine();
  const [edited, setEdited] = useState(() => editedText(chatId, messageId) || text);
  const textbox = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    const box = textbox.current;
    box?.focus();
    box?.setSelectionRange(box.value.length, box.value.length);
  }, []);
  const write = (next: string): void => {
    setEdited(next);
    keepEditedText(chatId, messageId, next === text ? '' : next);
  };
  const cancel = (): void => {
    keepEditedText(chatId, messageId, '');
    onCancel();
  };
  const isReady = canSend && edited.trim() !== '';
  const send = (): void => {
    if (isReady) onSend(edited.trim());
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && !isComposing(event)) cancel();
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
        dir={directionOf(edited)}
        rows={2}
        value={edited}
        onChange={(event) => write(event.target.value)}
        onKeyDown={press}
        onPaste={turnBefore}
      />
      <div className="form-actions">
        <button type="button" className="button" onClick={cancel}>
          Cancel
        </button>
        <button type="submit" className="button button-primary" disabled={!isReady}>
          Send edit
        </button>
      </div>
    </form>
  );
}

interface EditMessageProps {
  readonly messageId: string;
  /** What the message says now. */
  readonly text: string;
  /** Whether the chat takes it. */
  readonly canSend: boolean;
  /** Takes the trimmed text, which is kept until the receiver lets go of it. */
  readonly onSend: (text: string) => void;
  readonly onCancel: () => void;
}

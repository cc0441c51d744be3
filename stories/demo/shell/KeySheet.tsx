import { useEffect, useState, type ReactNode } from 'react';
import { Dialog } from '../ui/Dialog.tsx';
import { Icon } from '../ui/Icon.tsx';

/** The way to the sheet of keys: a button, and the question mark where nobody types. */
export function KeySheetButton(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== '?' || event.ctrlKey || event.metaKey || isTaken(event)) return;
      event.preventDefault();
      setOpen(true);
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  return (
    <>
      <button
        type="button"
        className="icon-button"
        aria-label="Keyboard"
        title="Keyboard (?)"
        onClick={() => setOpen(true)}
      >
        <Icon name="keys" />
      </button>
      {isOpen && <KeySheet onClose={() => setOpen(false)} />}
    </>
  );
}

function KeySheet({ onClose }: { readonly onClose: () => void }): ReactNode {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl className="keys">
        {keys().map(([what, ...chords]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>
              {chords.map((chord) => (
                <kbd key={chord}>{chord}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <div className="form-actions">
        <button type="button" className="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function keys(): readonly (readonly string[])[] {
  const command = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';
  return [
    ['Send', 'Enter'],
    ['A new line', 'Shift Enter'],
    ['Leave an edit', 'Esc'],
    ['From message to message', 'Tab'],
    ['Between the actions of a message', '←', '→'],
    ['Find anything', `${command} K`],
    ['Undo, redo', `${command} Z`, `${command} Shift Z`],
    ['Open or close the devtools', `${command} Shift .`],
    ['This sheet', '?'],
  ];
}

/** In a text field, a question mark is typed; an open dialog has its own keys. */
function isTaken(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  const isTyping =
    target instanceof Element &&
    target.closest('input, textarea, select, [contenteditable]:not([contenteditable="false"])') !== null;
  return isTyping || document.querySelector('dialog[open]') !== null;
}

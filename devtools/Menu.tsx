import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react';
import { Dressed } from './Dressed.tsx';

/** One item of a menu: an action, or a choice. */
export interface MenuItem {
  readonly label: string;
  readonly run: () => void;
  /** For a choice: whether it is chosen. */
  readonly isChosen?: boolean;
  /** For a choice: false if several may be chosen. Default true. */
  readonly isOneOf?: boolean;
  /** Why it is disabled. */
  readonly off?: string | undefined;
}

/** A button that opens a menu of groups, each with its name. */
export function Menu({ label, sign = '⋯', groups }: MenuProps): ReactNode {
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isOpen) return;
    if (event.key === 'Tab') setOpen(false);
    if (event.key !== 'Escape') return;
    event.preventDefault();
    close();
  };
  const onBlur = (event: React.FocusEvent): void => {
    if (!place.current?.contains(event.relatedTarget)) setOpen(false);
  };
  return (
    <div ref={place} className="menu" role="presentation" onKeyDown={onKeyDown} onBlur={onBlur}>
      <button
        ref={button}
        className="icon"
        aria-label={label}
        title={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {sign}
      </button>
      {isOpen && (
        <Dressed>
          {({ MenuItems }) => <MenuItems id={id} label={label} groups={groups} onClose={close} />}
        </Dressed>
      )}
    </div>
  );
}

interface MenuProps {
  readonly label: string;
  /** The visible text of the button. */
  readonly sign?: string;
  /** Items by the name of their group, in order. */
  readonly groups: Readonly<Record<string, readonly MenuItem[]>>;
}

import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import type { MenuItem } from './Menu.tsx';

/** The items of an open menu: arrows move through them, Escape closes the menu only. */
export function MenuItems({ id, label, groups, onClose }: MenuItemsProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => itemsIn(place.current)[0]?.focus(), []);
  const onKeyDown = (event: KeyboardEvent): void => {
    const items = itemsIn(place.current);
    const at = items.indexOf(event.target as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + items.length, Home: 0, End: items.length - 1 }[
      event.key
    ];
    if (to === undefined) return;
    event.preventDefault();
    items[to % items.length]?.focus();
  };
  return (
    <div
      ref={place}
      id={id}
      className="items"
      role="menu"
      aria-label={label}
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      {Object.entries(groups).map(([name, items]) => (
        <div key={name} role="group" aria-label={name}>
          <span className="muted" aria-hidden="true">
            {name}
          </span>
          {items.map((item) => itemOf(item, onClose))}
        </div>
      ))}
    </div>
  );
}

interface MenuItemsProps {
  readonly id: string;
  readonly label: string;
  readonly groups: Readonly<Record<string, readonly MenuItem[]>>;
  readonly onClose: () => void;
}

function itemOf({ label, run, isChosen, isOneOf = true, off }: MenuItem, onClose: () => void): ReactNode {
  const choice = isOneOf ? 'menuitemradio' : 'menuitemcheckbox';
  return (
    <button
      key={label}
      role={isChosen === undefined ? 'menuitem' : choice}
      aria-checked={isChosen}
      aria-disabled={off !== undefined}
      tabIndex={-1}
      onClick={() => {
        if (off !== undefined) return;
        onClose();
        run();
      }}
    >
      {label}
      {off !== undefined && <span className="warn"> - {off}</span>}
    </button>
  );
}

function itemsIn(place: HTMLElement | null): HTMLElement[] {
  return [...(place?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])];
}

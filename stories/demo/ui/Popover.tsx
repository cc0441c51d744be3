import { useEffect, useId, useLayoutEffect, useRef, type ReactNode, type RefObject } from 'react';
import { Icon } from './Icon.tsx';

/**
 * A dialog below the head of a page that leaves the page usable: a press beside it closes it and takes effect. It is open as
 * long as it is rendered. The focus goes to its current item, or else its first control. When it closes with the focus in it, the focus
 * goes back to where it was before, or to its button if that is gone.
 */
export function Popover({ title, opener, onClose, children }: PopoverProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const titleId = useId();
  const leave = useRef(onClose);
  const before = useRef<Element>(null);
  useLayoutEffect(() => {
    leave.current = onClose;
  });
  // React calls this while what it takes away is still on the page, and has the focus.
  useLayoutEffect(() => {
    const here = place.current;
    const button = opener.current;
    before.current ??= document.activeElement;
    return () => {
      if (!here?.contains(document.activeElement)) return;
      const from = before.current;
      if (from instanceof HTMLElement && from.isConnected && from !== document.body) from.focus();
      else button?.focus();
    };
  }, [opener]);
  useEffect(() => {
    const here = place.current;
    const current = here?.querySelector<HTMLElement>(
      '[aria-current]:not([aria-current="false"]), [autofocus]',
    );
    const first = here?.querySelector<HTMLElement>('.popover-body :is(button, input, a)');
    (current ?? first ?? here)?.focus();
    const isBeside = ({ target }: Event): boolean =>
      target instanceof Node &&
      target.isConnected &&
      !here?.contains(target) &&
      !opener.current?.contains(target);
    const look = (event: Event): void => {
      if (isBeside(event)) leave.current();
    };
    const press = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented || isInDialog(event.target)) return;
      leave.current();
    };
    document.addEventListener('keydown', press);
    document.addEventListener('pointerdown', look);
    document.addEventListener('focusin', look);
    return () => {
      document.removeEventListener('keydown', press);
      document.removeEventListener('pointerdown', look);
      document.removeEventListener('focusin', look);
    };
  }, [opener]);
  return (
    <div ref={place} role="dialog" aria-labelledby={titleId} className="popover" tabIndex={-1}>
      <header className="popover-head">
        <h2 id={titleId}>{title}</h2>
        <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div className="popover-body">{children}</div>
    </div>
  );
}

/** A dialog that was opened from here closes alone. */
function isInDialog(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('dialog') !== null;
}

interface PopoverProps {
  readonly title: string;
  /** The button that it hangs from. */
  readonly opener: RefObject<HTMLElement | null>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

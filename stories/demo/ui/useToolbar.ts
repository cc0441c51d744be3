import {
  useLayoutEffect,
  useRef,
  useState,
  type FocusEvent,
  type KeyboardEvent,
  type RefObject,
} from 'react';

/**
 * A row of buttons with one Tab stop: arrows, Home and End move inside, and a person who comes back is on the same button.
 * Buttons may be added and removed.
 */
export function useToolbar(): Toolbar {
  const bar = useRef<HTMLDivElement>(null);
  const [handlers] = useState(() => ({
    onFocus: ({ target, currentTarget }: FocusEvent<HTMLElement>) => leaveOneStop(currentTarget, target),
    onKeyDown: (event: KeyboardEvent<HTMLElement>) => move(event),
  }));
  // The buttons belong to several components: a new one must not be a Tab stop of its own.
  useLayoutEffect(() => {
    if (bar.current) leaveOneStop(bar.current, bar.current.querySelector('[tabindex="0"]'));
  });
  return { bar, handlers };
}

function leaveOneStop(bar: HTMLElement, wanted: Element | null): void {
  const buttons = buttonsOf(bar);
  const stop = buttons.find((button) => button === wanted) ?? buttons[0];
  for (const button of buttons) button.tabIndex = button === stop ? 0 : -1;
}

function move(event: KeyboardEvent<HTMLElement>): void {
  const bar = event.currentTarget;
  const buttons = buttonsOf(bar);
  const at = buttons.indexOf(event.target as HTMLButtonElement);
  if (at === -1 || event.altKey || event.ctrlKey || event.metaKey) return;
  const isTurned = getComputedStyle(bar).direction === 'rtl';
  const forth = isTurned ? -1 : 1;
  const to = { ArrowRight: at + forth, ArrowLeft: at - forth, Home: 0, End: -1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  buttons.at(to % buttons.length)?.focus();
}

/** Those that can have the focus, without those of a dialog that one of them opened. */
function buttonsOf(bar: HTMLElement): HTMLButtonElement[] {
  const buttons = [...bar.querySelectorAll<HTMLButtonElement>('button:not(:disabled)')];
  return buttons.filter((button) => button.closest('[role=toolbar], dialog') === bar);
}

interface Toolbar {
  readonly bar: RefObject<HTMLDivElement | null>;
  /** To be spread on the row. Stable. */
  readonly handlers: {
    readonly onFocus: (event: FocusEvent<HTMLElement>) => void;
    readonly onKeyDown: (event: KeyboardEvent<HTMLElement>) => void;
  };
}

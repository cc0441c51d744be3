import { useEffect, type KeyboardEvent, type MouseEvent } from 'react';

/**
 * Handling accidental double presses.
 *
 * The effect of a press shows a moment later, and until then the same button takes another press: a bouncing key, a tap that
 * counts twice, the habit of clicking twice. Nobody means a second turn, or a second branch, by that.
 */

/** A gate that lets one action pass per task of the browser; further ones in the same task are dropped. */
export function oncePerTask(): (action: () => void) => void {
  let isPassed = false;
  return (action) => {
    if (isPassed) return;
    isPassed = true;
    setTimeout(() => (isPassed = false));
    action();
  };
}

/** A click handler that ignores the second click of a double click. */
export function onFirstClick(action: () => void): (event: MouseEvent) => void {
  return ({ detail }) => {
    if (detail < 2) action();
  };
}

/** A key handler for a control that is replaced when it is used: a key that is held down counts once. */
export function notHeld(event: KeyboardEvent): void {
  if (event.repeat) event.preventDefault();
}

/**
 * Lets the second press of a double click on a button take no focus, and press nothing else. The first one has moved the focus,
 * or removes the button in a moment: then the focus would be nowhere, and the second one would meet what stood beside or below
 * the button. Used once in the app.
 */
export function useCalmDoubleClicks(): void {
  useEffect(() => {
    let pressed: Element | null = null;
    const buttonOf = ({ target }: Event): Element | null =>
      target instanceof Element ? target.closest('button') : null;
    const press = (event: globalThis.MouseEvent): void => {
      if (event.detail > 1 && pressed) event.preventDefault();
      else pressed = buttonOf(event);
    };
    const click = (event: globalThis.MouseEvent): void => {
      if (event.detail > 1 && pressed && buttonOf(event) !== pressed) {
        event.preventDefault();
        event.stopPropagation();
      }
    };
    addEventListener('mousedown', press);
    addEventListener('click', click, { capture: true });
    return () => {
      removeEventListener('mousedown', press);
      removeEventListener('click', click, { capture: true });
    };
  }, []);
}

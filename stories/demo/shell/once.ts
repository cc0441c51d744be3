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
 * Lets the second press of a double click on a button take no focus. The first one has moved it, or removes the button in a
 * moment: then the focus would be nowhere. Used once in the app.
 */
export function useCalmDoubleClicks(): void {
  useEffect(() => {
    let isOnButton = false;
    const press = (event: globalThis.MouseEvent): void => {
      // What the second one meets may be what stood below the button.
      if (event.detail > 1 && isOnButton) event.preventDefault();
      else isOnButton = event.target instanceof Element && event.target.closest('button') !== null;
    };
    addEventListener('mousedown', press);
    return () => removeEventListener('mousedown', press);
  }, []);
}

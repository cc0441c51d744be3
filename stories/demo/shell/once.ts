import type { KeyboardEvent, MouseEvent } from 'react';

/**
 * Presses that come together are one.
 *
 * What a press changes shows a moment later, and until then the same button takes another one: a key that bounces, a
 * tap that is counted twice, the habit of clicking twice. A second turn, or a second branch, is not what they mean.
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

/** A click handler that leaves out the second click of a double one. */
export function onFirstClick(action: () => void): (event: MouseEvent) => void {
  return ({ detail }) => {
    if (detail < 2) action();
  };
}

/** A key handler for what takes the next thing's place when it goes: a key that is held down is one press. */
export function notHeld(event: KeyboardEvent): void {
  if (event.repeat) event.preventDefault();
}

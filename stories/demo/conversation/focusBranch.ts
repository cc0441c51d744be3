/**
 * Focuses the button with the shown branch, or the composer where there is none: for controls above a conversation that are
 * removed when pressed.
 */
export function focusBranch(): void {
  document.querySelector<HTMLElement>('main :is(.branch-button, .composer textarea)')?.focus();
}

/** Gives the focus to the composer: for what leads to another place to write. */
export function focusComposer(): void {
  document.querySelector<HTMLElement>('.composer textarea')?.focus();
}

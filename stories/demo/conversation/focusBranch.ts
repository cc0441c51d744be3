/**
 * Gives the focus to the button that says which branch is shown; to the composer where there is none yet. For what
 * stands above a conversation and goes away when it is pressed.
 */
export function focusBranch(): void {
  document.querySelector<HTMLElement>('main :is(.branch-button, .composer textarea)')?.focus();
}

/** Gives the focus to the composer: for what leads to another place to write. */
export function focusComposer(): void {
  document.querySelector<HTMLElement>('.composer textarea')?.focus();
}

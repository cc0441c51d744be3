/**
 * Gives the focus to the choice of branches, which says where one is; to the composer where there is none yet. For
 * what stands above a conversation and goes away when it is pressed.
 */
export function focusBranch(item: Element): void {
  item.closest('main')?.querySelector<HTMLElement>('select, .composer textarea')?.focus();
}

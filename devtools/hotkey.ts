/** The default hotkey: Ctrl or Cmd, Shift and the key of the full stop, wherever a keyboard has it. */
export const HOTKEY = 'Mod+Shift+Period';

/**
 * Whether a key was pressed that is meant for the panel: modifiers (`Mod`: Ctrl or Cmd, `Shift`, `Alt`) and the `code` of a
 * key, joined by `+`. Not while an input method composes, and not where the app took the key for itself.
 */
export function isHotkey(event: KeyboardEvent, hotkey: string): boolean {
  if (event.defaultPrevented || event.isComposing || event.repeat) return false;
  const names = hotkey.split('+');
  const code = names.pop();
  const has = (name: string): boolean => names.includes(name);
  return (
    event.code === code &&
    (event.ctrlKey || event.metaKey) === has('Mod') &&
    event.shiftKey === has('Shift') &&
    event.altKey === has('Alt')
  );
}

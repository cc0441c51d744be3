/** The default hotkey: Ctrl or Cmd, Shift and the key of the full stop on any keyboard layout. */
export const HOTKEY = 'Mod+Shift+Period';

/**
 * Whether an event is the panel's hotkey: modifiers (`Mod`: Ctrl or Cmd, `Shift`, `Alt`) and the `code` of a key, joined by
 * `+`. False while an input method composes, and where the app has handled the key.
 */
export function isHotkey(event: KeyboardEvent, hotkey: string | null): boolean {
  if (hotkey === null || event.defaultPrevented || event.isComposing || event.repeat) return false;
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

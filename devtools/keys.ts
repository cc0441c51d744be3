/** What keys do; a key without an act has its usual effect. */
export type Acts = Readonly<Record<string, (() => void) | false | undefined>>;

/** Handles the keys that are named, and keeps them from all others; those that something inside has handled stay with it. */
export function keys(acts: Acts) {
  return (event: PressedKey): void => {
    const act = acts[event.key];
    if (!act || event.defaultPrevented) return;
    event.preventDefault();
    act();
  };
}

interface PressedKey {
  readonly key: string;
  readonly defaultPrevented: boolean;
  preventDefault(): void;
}

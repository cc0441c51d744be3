/**
 * `localStorage` and `sessionStorage` that never throw.
 *
 * A browser may refuse both (private windows, blocked cookies, a full quota), and merely touching them can throw.
 * What can't be stored is kept for as long as the page lives: a refused disk must not take words away.
 */
export interface SafeStorage {
  /** The value under a key, or null. */
  get(key: string): string | null;
  /** Keeps a value; null takes it away. */
  set(key: string, value: string | null): void;
  /** The keys that begin like this. */
  keys(prefix: string): readonly string[];
  /** Forgets everything, other pages' values of this origin included. */
  clear(): void;
}

/** Lives until it is cleared; shared by all tabs. */
export const local: SafeStorage = safeStorage(() => localStorage);

/** Lives as long as the tab, reloads included. */
export const session: SafeStorage = safeStorage(() => sessionStorage);

function safeStorage(open: () => Storage): SafeStorage {
  const refused = new Map<string, string>();
  const tryWith = <T>(action: (storage: Storage) => T): T | undefined => {
    try {
      return action(open());
    } catch {
      return undefined;
    }
  };
  return {
    get: (key) => refused.get(key) ?? tryWith((storage) => storage.getItem(key)) ?? null,
    set(key, value) {
      refused.delete(key);
      if (value === null) tryWith((storage) => storage.removeItem(key));
      else if (!tryWith((storage) => (storage.setItem(key, value), true))) refused.set(key, value);
    },
    keys(prefix) {
      const stored = tryWith((storage) => Object.keys(storage)) ?? [];
      return [...new Set([...stored, ...refused.keys()])].filter((key) => key.startsWith(prefix));
    },
    clear() {
      refused.clear();
      tryWith((storage) => storage.clear());
    },
  };
}

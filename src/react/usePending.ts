import { useCallback, useState } from 'react';

/** What a button needs to know of the actions behind it. */
export interface Pending {
  /** Whether one of the actions is under way. */
  readonly isPending: boolean;
  /** Why the last action failed; null again as soon as the next one begins. */
  readonly error: Error | null;
}

interface Running extends Pending {
  /** Whose actions these are. */
  readonly of: object;
  readonly running: number;
}

/**
 * Watches the actions of a hook: `track` runs one, and hands its result or its rejection on to the caller.
 * What belonged to another engine or list (`of`) is forgotten, so a chat never shows the failure of the one before it.
 */
export function usePending(
  of: object,
): Pending & { readonly track: <T>(action: () => Promise<T>) => Promise<T> } {
  const [state, setState] = useState<Running>(() => idle(of));
  const { isPending, error } = state.of === of ? state : idle(of);

  const track = useCallback(
    async <T>(action: () => Promise<T>): Promise<T> => {
      setState((now) => begun(now.of === of ? now : idle(of)));
      try {
        const result = await action();
        setState((now) => (now.of === of ? ended(now, now.error) : now));
        return result;
      } catch (failure) {
        setState((now) => (now.of === of ? ended(now, errorOf(failure)) : now));
        throw failure;
      }
    },
    [of],
  );
  return { isPending, error, track };
}

function idle(of: object): Running {
  return { of, running: 0, isPending: false, error: null };
}

function begun({ of, running }: Running): Running {
  return { of, running: running + 1, isPending: true, error: null };
}

function ended({ of, running }: Running, error: Error | null): Running {
  return { of, running: running - 1, isPending: running > 1, error };
}

function errorOf(failure: unknown): Error {
  return failure instanceof Error ? failure : new Error(String(failure));
}

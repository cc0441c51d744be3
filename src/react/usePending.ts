import { useMemo, useState } from 'react';

/** The state of a hook's actions, for buttons. */
export interface AsyncAction {
  /** Whether one of the actions is running. */
  readonly isPending: boolean;
  /** Why the last action failed; null again as soon as the next one begins. */
  readonly error: Error | null;
}

type Actions = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>;

/**
 * The actions of a hook as stable functions, and whether one of them is running. For another engine or list (`of`), running
 * actions and failures are forgotten, so that a chat never shows the failure of the one before.
 */
export function useActions<O extends object, A extends Actions>(
  of: O,
  actionsOf: (of: O) => A,
): A & AsyncAction {
  const [state, setState] = useState({ of, running: 0, error: null as Error | null });
  const { running, error } = state.of === of ? state : { running: 0, error: null };
  const tracked = useMemo(() => {
    const track =
      (action: A[string]) =>
      async (...args: never[]): Promise<unknown> => {
        const end = (failed?: Error): void =>
          setState((now) =>
            now.of === of ? { of, running: now.running - 1, error: failed ?? now.error } : now,
          );
        setState((now) => ({ of, running: now.of === of ? now.running + 1 : 1, error: null }));
        try {
          const result = await action(...args);
          end();
          return result;
        } catch (failure) {
          end(failure instanceof Error ? failure : new Error(String(failure)));
          throw failure;
        }
      };
    const actions = Object.entries(actionsOf(of)).map(([name, action]) => [name, track(action as A[string])]);
    return Object.fromEntries(actions) as A;
  }, [of, actionsOf]);
  return { ...tracked, isPending: running > 0, error };
}

import { lazy, Suspense, useState, useSyncExternalStore, type ComponentType, type ReactNode } from 'react';

/**
 * A component whose code comes when it is first shown, or as soon as the page has nothing better to do: nothing that a
 * first look doesn't show keeps anybody waiting. Nothing stands in its place meanwhile.
 */
export function late<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let There: ComponentType<P> | undefined;
  const fetch = async (): Promise<{ readonly default: ComponentType<P> }> => {
    There ??= await load();
    return { default: There };
  };
  comesLate(fetch);
  const Coming = lazy(fetch) as unknown as ComponentType<P>;
  return function Late(props: P): ReactNode {
    // What is shown stays what it is: another component in its place would lose what was typed in it, and the focus.
    const [Shown] = useState(() => There ?? Coming);
    return (
      <Suspense fallback={null}>
        <Shown {...props} />
      </Suspense>
    );
  };
}

const coming = new Set<() => Promise<unknown>>();

/** Adds something to what is fetched when the page has nothing better to do. */
export function comesLate(fetch: () => Promise<unknown>): void {
  coming.add(fetch);
}

/** Fetches all that is still to come. Resolves when it is there, or can't be had; never rejects. */
export async function fetchLate(): Promise<void> {
  isCalm = true;
  for (const tell of waiting) tell();
  await Promise.allSettled([...coming].map((fetch) => fetch()));
}

/** What is shown no sooner than that: it has nothing to show before somebody does something. */
export function Calm({ children }: { readonly children: ReactNode }): ReactNode {
  return useSyncExternalStore(wait, () => isCalm) && children;
}

let isCalm = false;
const waiting = new Set<() => void>();

function wait(tell: () => void): () => void {
  waiting.add(tell);
  return () => waiting.delete(tell);
}

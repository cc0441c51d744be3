import { lazy, Suspense, useState, useSyncExternalStore, type ComponentType, type ReactNode } from 'react';

/**
 * A component whose code is loaded when it is first shown, or when the page is idle, so that code which a first look does not
 * need delays nothing. Renders nothing until then.
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
    // A shown component stays the same one: replacing it would lose typed text and the focus.
    const [Shown] = useState(() => There ?? Coming);
    return (
      <Suspense fallback={null}>
        <Shown {...props} />
      </Suspense>
    );
  };
}

const coming = new Set<() => Promise<unknown>>();

/** Adds a load to those that run when the page is idle. */
export function comesLate(fetch: () => Promise<unknown>): void {
  coming.add(fetch);
}

/** Loads everything that is still missing. Resolves when it is loaded, or failed; never rejects. */
export async function fetchLate(): Promise<void> {
  isCalm = true;
  for (const tell of waiting) tell();
  await Promise.allSettled([...coming].map((fetch) => fetch()));
}

/** Renders its children when the page is idle: they show nothing before a person acts. */
export function Calm({ children }: { readonly children: ReactNode }): ReactNode {
  return useSyncExternalStore(wait, () => isCalm) && children;
}

let isCalm = false;
const waiting = new Set<() => void>();

function wait(tell: () => void): () => void {
  waiting.add(tell);
  return () => waiting.delete(tell);
}

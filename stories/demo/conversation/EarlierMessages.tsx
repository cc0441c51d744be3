import { useContextEngine, useEngineState } from 'contextree';
import { useEffect, useRef, type ReactNode, type RefObject } from 'react';

/**
 * What stands before the first loaded message: a door to the earlier ones, which opens by itself when one comes near.
 */
export function EarlierMessages({ scroller }: { readonly scroller: RefObject<HTMLElement | null> }): ReactNode {
  const { engine } = useContextEngine();
  const earlier = useEngineState((state) => state.loadedFrom);
  const door = useRef<HTMLButtonElement>(null);
  const isLoading = useRef(false);

  const load = async (): Promise<void> => {
    if (isLoading.current) return;
    isLoading.current = true;
    // At the very top the browser would not hold the view on what is being read.
    if (scroller.current && scroller.current.scrollTop < 1) scroller.current.scrollTop = 1;
    await engine.loadMore().finally(() => (isLoading.current = false));
  };

  useEffect(() => {
    if (!door.current || earlier === 0) return;
    const near = new IntersectionObserver(([entry]) => entry?.isIntersecting && void load(), {
      root: scroller.current,
      rootMargin: '600px 0px 0px',
    });
    near.observe(door.current);
    return () => near.disconnect();
  });

  if (earlier === 0) return null;
  return (
    <button ref={door} type="button" className="button earlier" onClick={() => void load()}>
      {earlier === 1 ? '1 earlier message' : `${earlier} earlier messages`}
    </button>
  );
}

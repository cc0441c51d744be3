import { useEngine, useEngineState } from 'contextree';
import { useEffect, useRef, type ReactNode, type RefObject } from 'react';

/**
 * What stands before the first loaded message: a door to the earlier ones, which opens by itself when one comes near.
 */
export function EarlierMessages({ onLoad, scroller }: EarlierMessagesProps): ReactNode {
  const engine = useEngine();
  const earlier = useEngineState((state) => state.loadedFrom);
  const door = useRef<HTMLButtonElement>(null);
  const isLoading = useRef(false);

  const load = async (): Promise<void> => {
    if (isLoading.current) return;
    isLoading.current = true;
    onLoad();
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

interface EarlierMessagesProps {
  /** About to load: what is being read should stay in view. */
  readonly onLoad: () => void;
  /** What scrolls. */
  readonly scroller: RefObject<HTMLElement | null>;
}

import { useEngine, useEngineState } from 'contextree';
import { useEffect, useRef, type ReactNode, type RefObject } from 'react';
import { useAttempt } from '../shell/useAttempt.ts';

/** How many earlier messages come at a time: few enough not to halt the scrolling that asks for them. */
const PAGE = 50;

/**
 * What stands before the first loaded message: a door to the earlier ones, which opens by itself when one comes near.
 */
export function EarlierMessages({
  scroller,
}: {
  readonly scroller: RefObject<HTMLElement | null>;
}): ReactNode {
  const engine = useEngine();
  const earlier = useEngineState((state) => state.loadedFrom);
  const door = useRef<HTMLButtonElement>(null);
  const attempt = useAttempt();

  useEffect(() => {
    if (!door.current || earlier === 0) return;
    const near = new IntersectionObserver(
      ([entry]) => entry?.isIntersecting && attempt(() => engine.loadMore(PAGE)),
      { root: scroller.current, rootMargin: '800px 0px 0px' },
    );
    near.observe(door.current);
    return () => near.disconnect();
  }, [engine, attempt, scroller, earlier]);

  if (earlier === 0) return null;
  return (
    <button
      ref={door}
      type="button"
      className="button earlier"
      onClick={() => attempt(() => engine.loadMore(PAGE))}
    >
      {earlier === 1 ? '1 earlier message' : `${earlier} earlier messages`}
    </button>
  );
}

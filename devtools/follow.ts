import type { ContextEngine, EngineState } from 'contextree';
import { startTransition, useEffect, useMemo, useState } from 'react';
import { useShownIn } from './Styled.tsx';

/**
 * The engine's state, followed while mounted: one subscription, at most one render for each animation frame. It is rendered in
 * slices, because the rows of a long chat must not keep the app from typing.
 */
export function useLive(engine: ContextEngine): EngineState {
  const shownIn = useShownIn();
  const [seen, setSeen] = useState<readonly [of: ContextEngine, state: EngineState]>();
  useEffect(() => {
    const { state } = engine;
    const show = (): void => startTransition(() => setSeen([engine, state.getState()]));
    show();
    return byFrame(shownIn, (changed) => state.subscribe(changed), show);
  }, [engine, shownIn]);
  const state = seen?.[0] === engine ? seen[1] : engine.state.getState();
  return useMemo(() => hiding(state, 'messages'), [state]);
}

/**
 * A copy in which long lists are not enumerable: at each render, React's development build compares all enumerable props, and
 * for 10,000 messages that takes seconds.
 */
export function hiding<T extends object>(value: T, ...lists: (keyof T)[]): T {
  const copy = { ...value };
  for (const list of lists) Object.defineProperty(copy, list, { enumerable: false });
  return copy;
}

/**
 * Subscribes, and shows changes at most once a frame of the window that shows the panel: the frames of a page behind it stand
 * still. The result unsubscribes.
 */
export function byFrame(
  shownIn: Window,
  subscribe: (changed: () => void) => () => void,
  show: () => void,
): () => void {
  let frame = 0;
  const stop = subscribe(() => {
    frame ||= shownIn.requestAnimationFrame(() => {
      frame = 0;
      show();
    });
  });
  return () => {
    stop();
    shownIn.cancelAnimationFrame(frame);
  };
}

import type { ContextEngine, EngineState } from 'contextree';
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { useShownIn } from './Shadow.tsx';

/** The engine's state, followed while mounted: one subscription, at most one render for each animation frame. */
export function useLive(engine: ContextEngine): EngineState {
  const shownIn = useShownIn();
  const subscribe = useCallback(
    (notify: () => void) => followByFrame(engine, shownIn, notify),
    [engine, shownIn],
  );
  const state = useSyncExternalStore(subscribe, engine.state.getState, engine.state.getInitialState);
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

/** Uses the frames of the window that shows the panel: those of a page behind it stand still. */
function followByFrame(engine: ContextEngine, shownIn: Window, notify: () => void): () => void {
  let frame = 0;
  const stop = engine.state.subscribe(() => {
    if (frame !== 0) return;
    frame = shownIn.requestAnimationFrame(() => {
      frame = 0;
      notify();
    });
  });
  return () => {
    stop();
    shownIn.cancelAnimationFrame(frame);
  };
}

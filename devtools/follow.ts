import type { ContextEngine, EngineState } from 'contextree';
import { useCallback, useSyncExternalStore } from 'react';
import { useShownIn } from './Shadow.tsx';

/** The engine's state, followed while mounted: one subscription, at most one render per animation frame. */
export function useLive(engine: ContextEngine): EngineState {
  const shownIn = useShownIn();
  const subscribe = useCallback(
    (notify: () => void) => followByFrame(engine, shownIn, notify),
    [engine, shownIn],
  );
  return useSyncExternalStore(subscribe, engine.state.getState, engine.state.getInitialState);
}

/** Frames of the window that shows the panel: those of a page behind it stand still. */
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

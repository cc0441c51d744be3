import type { ContextEngine, EngineState } from 'contextree';
import { startTransition, useEffect, useMemo, useState } from 'react';
import { useShownIn } from './Shadow.tsx';

/**
 * The engine's state, followed while mounted: one subscription, at most one render for each animation frame. It is rendered in
 * slices, because the rows of a long chat must not keep the app from typing.
 */
export function useLive(engine: ContextEngine): EngineState {
  const shownIn = useShownIn();
  const [seen, setSeen] = useState<readonly [of: ContextEngine, state: EngineState]>();
  useEffect(() => {
    const show = (state: EngineState): void => startTransition(() => setSeen([engine, state]));
    return followByFrame(engine, shownIn, show);
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
 * Shows the state in the next frame, and then each state that comes, in the frames of the window that shows the panel: those of
 * a page behind it stand still.
 */
function followByFrame(
  { state }: ContextEngine,
  shownIn: Window,
  show: (state: EngineState) => void,
): () => void {
  let frame = 0;
  const look = (): void => {
    frame ||= shownIn.requestAnimationFrame(() => {
      frame = 0;
      show(state.getState());
    });
  };
  look();
  const stop = state.subscribe(look);
  return () => {
    stop();
    shownIn.cancelAnimationFrame(frame);
  };
}

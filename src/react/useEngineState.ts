import { useStore } from 'zustand';
import type { ContextEngine } from '../engine/engine.ts';
import type { EngineState } from '../engine/state.ts';
import { sameFields } from '../graph/same.ts';
import { useEngine } from './provider.tsx';

/**
 * Any slice of the engine's state; renders when the slice changes, by `Object.is`.
 *
 * Select what the state holds (`(state) => state.pending`) or a plain value (`(state) => state.messages.length`).
 * A selector that makes a new list or object each time never comes to rest; make those from the slice, with `useMemo`.
 */
export function useEngineState<T>(selector: (state: EngineState) => T, engine?: ContextEngine): T {
  return useStore(useEngine(engine).state, selector);
}

/** A selector of several values, which returns the last object again while they are the same. */
export function keeping<S, T extends object>(select: (state: S) => T): (state: S) => T {
  let last: T | undefined;
  return (state) => {
    const next = select(state);
    return (last = last && sameFields(last, next) ? last : next);
  };
}

import { useMemo, useState } from 'react';
import { useStore } from 'zustand';
import type { ContextEngine } from '../engine/engine.ts';
import { expectOption, ownOptions } from '../engine/desk.ts';
import type { EngineState } from '../engine/state.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import { isEngine, useEngine } from './provider.tsx';
import { useSharedEngine, type EngineOptions } from './registry.ts';
import { keeping } from './useEngineState.ts';
import { useMountedFragments } from './useFragments.ts';

/** Options of the engine that `useContextEngine` makes. */
export interface UseContextEngineOptions extends EngineOptions {
  /** In the prompt while the component is mounted, as with `useFragments`. */
  readonly fragments?: readonly ContextFragment[] | undefined;
}

/** The engine, its state, and its methods as stable functions. */
export interface UseContextEngineResult extends Pick<EngineState, Shown>, Methods {
  readonly engine: ContextEngine;
}

const SHOWN = [
  'status',
  'error',
  'messages',
  'remoteMessages',
  'loadedFrom',
  'branch',
  'headMessageId',
  'chat',
  'saveState',
  'persistence',
] as const;

type Shown = (typeof SHOWN)[number];

const METHODS = [
  'set',
  'unset',
  'clear',
  'save',
  'resolve',
  'inspect',
  'loadMore',
  'updateChat',
  'trackUsage',
  'retry',
] as const;

type Methods = Readonly<Pick<ContextEngine, (typeof METHODS)[number]>>;

/**
 * An engine and its state: without an argument the provider's; with an engine that one; with options the engine for that store,
 * chat and user, which all components with the same options share.
 *
 * Renders with each of the values that it returns; a component that needs only one uses `useEngineState`.
 * @throws provider-missing without an argument and without a provider; invalid-options for a value that is neither an engine
 *   nor options with a `chatId`
 */
export function useContextEngine(from?: ContextEngine | UseContextEngineOptions): UseContextEngineResult {
  expectOption(typeof (from ?? {}) === 'object', 'engine', 'a ContextEngine or options for one', from);
  const options = isEngine(from) ? undefined : ownOptions(from);
  const shared = useSharedEngine(options);
  const engine = useEngine(shared ?? (isEngine(from) ? from : undefined));
  useMountedFragments(engine, options?.fragments ?? NONE);
  const methods = useMemo(() => methodsOf(engine), [engine]);
  const [select] = useState(() => keeping(shown));
  return { engine, ...useStore(engine.state, select), ...methods };
}

const NONE: readonly ContextFragment[] = [];

function shown(state: EngineState): Pick<EngineState, Shown> {
  return Object.fromEntries(SHOWN.map((name) => [name, state[name]])) as unknown as Pick<EngineState, Shown>;
}

function methodsOf(engine: ContextEngine): Methods {
  const bound = METHODS.map((name) => [name, (engine[name] as () => unknown).bind(engine)]);
  return Object.fromEntries(bound) as Methods;
}

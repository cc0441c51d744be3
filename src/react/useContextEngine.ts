import { useMemo } from 'react';
import { useStore } from 'zustand';
import type { ContextEngine } from '../engine/engine.ts';
import { expectOption } from '../engine/expect.ts';
import type { EngineState } from '../engine/state.ts';
import type { ContextFragment } from '../fragment/fragment.ts';
import { isEngine, useEngine } from './provider.tsx';
import { useSharedEngine, type EngineOptions } from './registry.ts';
import { useMountedFragments } from './useFragments.ts';

/** What `useContextEngine` makes an engine from. */
export interface UseContextEngineOptions extends EngineOptions {
  /** In the prompt while the component is mounted, as with `useFragments`. */
  readonly fragments?: readonly ContextFragment[] | undefined;
}

/** The engine, what it shows, and its methods as stable functions. */
export interface UseContextEngineResult extends Pick<EngineState, Shown>, Methods {
  readonly engine: ContextEngine;
}

type Shown =
  | 'status'
  | 'error'
  | 'messages'
  | 'elsewhere'
  | 'loadedFrom'
  | 'branch'
  | 'headMessageId'
  | 'chat'
  | 'saveState'
  | 'persistence';

type Methods = Readonly<
  Pick<
    ContextEngine,
    | 'set'
    | 'unset'
    | 'clear'
    | 'save'
    | 'resolve'
    | 'inspect'
    | 'loadMore'
    | 'updateChat'
    | 'trackUsage'
    | 'retry'
  >
>;

/**
 * The engine and what it shows. Without an argument the provider's; with an engine that one; with options the engine
 * for that store, chat and user, which all components that name the same share.
 *
 * Renders with each of the values that it returns; a component that needs only one uses `useEngineState`.
 * @throws provider-missing without an argument and without a provider; invalid-options for what is neither an engine nor
 * options with a `chatId`
 */
export function useContextEngine(from?: ContextEngine | UseContextEngineOptions): UseContextEngineResult {
  expectOption(typeof (from ?? {}) === 'object', 'engine', 'a ContextEngine or options for one', from);
  const options = isEngine(from) ? undefined : from;
  const shared = useSharedEngine(options);
  const engine = useEngine(shared ?? (isEngine(from) ? from : undefined));
  useMountedFragments(engine, options?.fragments ?? NONE);
  const methods = useMemo(() => methodsOf(engine), [engine]);
  return {
    engine,
    status: useStore(engine.state, (state) => state.status),
    error: useStore(engine.state, (state) => state.error),
    messages: useStore(engine.state, (state) => state.messages),
    elsewhere: useStore(engine.state, (state) => state.elsewhere),
    loadedFrom: useStore(engine.state, (state) => state.loadedFrom),
    branch: useStore(engine.state, (state) => state.branch),
    headMessageId: useStore(engine.state, (state) => state.headMessageId),
    chat: useStore(engine.state, (state) => state.chat),
    saveState: useStore(engine.state, (state) => state.saveState),
    persistence: useStore(engine.state, (state) => state.persistence),
    ...methods,
  };
}

const NONE: readonly ContextFragment[] = [];

function methodsOf(engine: ContextEngine): Methods {
  return {
    set: (...fragments) => engine.set(...fragments),
    unset: (idOrFragment) => engine.unset(idOrFragment),
    clear: () => engine.clear(),
    save: (options) => engine.save(options),
    resolve: (options) => engine.resolve(options),
    inspect: (options) => engine.inspect(options),
    loadMore: (count) => engine.loadMore(count),
    updateChat: (updates) => engine.updateChat(updates),
    trackUsage: (usage) => engine.trackUsage(usage),
    retry: () => engine.retry(),
  };
}

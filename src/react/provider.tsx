import { createContext, useContext, useEffect, type ReactNode } from 'react';
import type { ContextEngine } from '../engine/engine.ts';
import { expectOption } from '../engine/desk.ts';
import { ContextError, readFrom } from '../errors.ts';
import { load, useSharedEngine, type EngineOptions } from './registry.ts';

const EngineContext = createContext<ContextEngine | undefined>(undefined);

/** An engine of the app's own, or the options that one is made from. */
export type ContextEngineProviderProps = { readonly children?: ReactNode } & (
  | { readonly engine: ContextEngine }
  | ({ readonly engine?: undefined } & EngineOptions)
);

/**
 * Provides the hooks below it with an engine: the given one, or the one for its `chatId`, `userId` (default `local`) and
 * `store` (default one IndexedDB database of the page), shared by all components with the same options.
 *
 * A given engine stays its owner's, who calls `dispose()`. Mounting reads the chat, and writes nothing. Another `chatId` or
 * `userId` changes to that chat; the other options are read once.
 * @throws invalid-options for a value that is no engine, or without a `chatId`
 */
export function ContextEngineProvider({ children, ...props }: ContextEngineProviderProps): ReactNode {
  const given = props.engine;
  if (given) expectEngine(given);
  const shared = useSharedEngine(given ? undefined : props);
  useLoaded(given);
  return <EngineContext.Provider value={given ?? shared}>{children}</EngineContext.Provider>;
}

/**
 * The engine: the argument, else the nearest provider's. The other hooks observe its state.
 * @throws provider-missing where there is neither; invalid-options for an argument that is no engine
 */
export function useEngine(engine?: ContextEngine): ContextEngine {
  if (engine) expectEngine(engine);
  const provided = useProvidedEngine();
  useLoaded(engine);
  const chosen = engine ?? provided;
  if (chosen) return chosen;
  throw new ContextError(
    'provider-missing',
    'There is no context engine here. Put <ContextEngineProvider chatId="..."> around this component, ' +
      'or pass the hook an engine, as useContextEngine({ chatId }) makes one.',
  );
}

/** The engine of the nearest provider; undefined without one. */
export function useProvidedEngine(): ContextEngine | undefined {
  return useContext(EngineContext);
}

/** Reads the chat of an engine without a provider of ours, once it is mounted. */
function useLoaded(engine: ContextEngine | undefined): void {
  useEffect(() => {
    if (engine) load(engine);
  }, [engine]);
}

/** Throws `invalid-options` for a value that is no engine. */
export function expectEngine(value: unknown): void {
  expectOption(isEngine(value), 'engine', 'a ContextEngine', value);
}

/** Whether an argument is an engine, of any copy of the package. */
export function isEngine(value: unknown): value is ContextEngine {
  const given = value as Partial<ContextEngine> | null | undefined;
  return readFrom('engine', () => typeof given?.mountFragments === 'function');
}

import { createContext, useContext, useEffect, type ReactNode } from 'react';
import type { ContextEngine } from '../engine/engine.ts';
import { expectOption } from '../engine/desk.ts';
import { ContextError, readFrom } from '../errors.ts';
import { load, useSharedEngine, type EngineOptions } from './registry.ts';

const EngineContext = createContext<ContextEngine | undefined>(undefined);

/** An engine of one's own, or what one is made from. */
export type ContextEngineProviderProps = { readonly children?: ReactNode } & (
  | { readonly engine: ContextEngine }
  | ({ readonly engine?: undefined } & EngineOptions)
);

/**
 * Gives the hooks below it their engine: the one it is handed, or the one for its `chatId`, `userId` (default `local`)
 * and `store` (default one IndexedDB database of the page), shared with every component that names the same.
 *
 * An engine that it is handed stays its owner's: `dispose()` is theirs to call. Mounting reads the chat, and writes
 * nothing. With another `chatId` or `userId` it changes to that chat; the other options are taken once.
 *
 * @throws invalid-options for an engine that is none, or without a `chatId`
 */
export function ContextEngineProvider({ children, ...props }: ContextEngineProviderProps): ReactNode {
  const given = props.engine;
  if (given) expectEngine(given);
  const shared = useSharedEngine(given ? undefined : props);
  useLoaded(given);
  return <EngineContext.Provider value={given ?? shared}>{children}</EngineContext.Provider>;
}

/**
 * The engine: the argument, else the nearest provider's. Its state is observed with the other hooks.
 *
 * @throws provider-missing where there is neither; invalid-options for an argument that is no engine
 */
export function useEngine(engine?: ContextEngine): ContextEngine {
  if (engine) expectEngine(engine);
  const provided = useProvidedEngine();
  useLoaded(engine);
  return engine ?? provided ?? refuseWithoutProvider();
}

/** The nearest provider's engine, where there is one. */
export function useProvidedEngine(): ContextEngine | undefined {
  return useContext(EngineContext);
}

/** Reads the chat of an engine that no provider of ours looks after, once it is on the page. */
function useLoaded(engine: ContextEngine | undefined): void {
  useEffect(() => {
    if (engine) load(engine);
  }, [engine]);
}

function refuseWithoutProvider(): never {
  throw new ContextError(
    'provider-missing',
    'There is no context engine here. Put <ContextEngineProvider chatId="..."> around this component, ' +
      'or pass the hook an engine, as useContextEngine({ chatId }) makes one.',
  );
}

/** Throws `invalid-options` for what is no engine. */
export function expectEngine(value: unknown): void {
  expectOption(isEngine(value), 'engine', 'a ContextEngine', value);
}

/** Whether an argument is an engine, of any copy of the package. */
export function isEngine(value: unknown): value is ContextEngine {
  const given = value as Partial<ContextEngine> | null | undefined;
  return readFrom('engine', () => typeof given?.mountFragments === 'function');
}

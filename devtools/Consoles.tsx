import { type ContextEngine, useEngine } from 'contextree';
import { type ReactNode, useEffect } from 'react';
import { openConsole } from './console.ts';
import { Guard } from './Guard.tsx';

/** Gives the page's console access to these engines, while mounted. Default: that of the nearest provider, if any. */
export function Consoles({ engine, engines = engine && [engine] }: ConsolesProps): ReactNode {
  if (engines) return engines.map((one, i) => <ConsoleOf key={i} engine={one} />);
  // A boundary that failed for want of a provider stays so: this one goes when an engine is given.
  return (
    <Guard renderFailure={() => null}>
      <ProvidedConsole />
    </Guard>
  );
}

interface ConsolesProps {
  readonly engine: ContextEngine | undefined;
  readonly engines: readonly ContextEngine[] | undefined;
}

function ProvidedConsole(): ReactNode {
  return <ConsoleOf engine={useEngine()} />;
}

function ConsoleOf({ engine }: { readonly engine: ContextEngine }): ReactNode {
  useEffect(() => openConsole(engine), [engine]);
  return null;
}

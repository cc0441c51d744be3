import { type ContextEngine, useEngine } from 'contextree';
import { type ReactNode, useEffect } from 'react';
import { openConsole } from './console.ts';
import { Guard } from './Guard.tsx';

/** Gives the page's console access to these engines, while mounted. Default: that of the nearest provider, if any. */
export function Doors({ engine, engines = engine && [engine] }: DoorsProps): ReactNode {
  if (engines) return engines.map((one, i) => <Door key={i} engine={one} />);
  return (
    <Guard renderFailure={() => null}>
      <DoorOfProvider />
    </Guard>
  );
}

interface DoorsProps {
  readonly engine: ContextEngine | undefined;
  readonly engines: readonly ContextEngine[] | undefined;
}

function DoorOfProvider(): ReactNode {
  return <Door engine={useEngine()} />;
}

function Door({ engine }: { readonly engine: ContextEngine }): ReactNode {
  useEffect(() => openConsole(engine), [engine]);
  return null;
}

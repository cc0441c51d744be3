import { type ContextEngine, useEngine } from 'contextree';
import type { ReactNode } from 'react';

/** What is made of each of the given engines, with its index as a key; default: of that of the nearest provider. */
export function OfEach({ engine, engines = engine && [engine], children }: OfEachProps): ReactNode {
  return engines ? engines.map(children) : <Provided>{children}</Provided>;
}

interface OfEachProps {
  readonly engine?: ContextEngine | undefined;
  readonly engines?: readonly ContextEngine[] | undefined;
  readonly children: (engine: ContextEngine, key: number) => ReactNode;
}

function Provided({ children }: Pick<OfEachProps, 'children'>): ReactNode {
  return children(useEngine(), 0);
}

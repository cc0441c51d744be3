import type { ReactNode } from 'react';
import { useLoaded } from './loaded.ts';
import { Style } from './Shadow.tsx';
import type * as Tools from './tools.ts';

/** Loads the code that follows the first rows. */
export function loadTools(): Promise<typeof Tools> {
  return import('./tools.ts');
}

/** That code; undefined until it is loaded. */
export function useTools(): typeof Tools | undefined {
  return useLoaded(loadTools, true).value;
}

/** Children whose code and styles are loaded later than the panel: shown when both are there. */
export function Dressed({ meanwhile, children }: DressedProps): ReactNode {
  const { value: tools, error } = useLoaded(loadTools, true);
  if (error) throw error;
  if (!tools) return meanwhile;
  return (
    <>
      <Style css={tools.viewCss} />
      {children}
    </>
  );
}

interface DressedProps {
  /** What to show until then. Default: nothing. */
  readonly meanwhile?: ReactNode;
  readonly children: ReactNode;
}

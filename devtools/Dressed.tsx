import type { ReactNode } from 'react';
import { useLoaded } from './loaded.ts';
import { Style } from './Shadow.tsx';
import type * as Tools from './tools.ts';

/** What comes right after the first rows. */
export function loadTools(): Promise<typeof Tools> {
  return import('./tools.ts');
}

/** The same, undefined until it is there. */
export function useTools(): typeof Tools | undefined {
  return useLoaded(loadTools, true).value;
}

/** Children whose styles come later than the panel, as their code does: they are shown when both are here. */
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
  /** What is shown until then. Default: nothing. */
  readonly meanwhile?: ReactNode;
  readonly children: ReactNode;
}

import type { ReactNode } from 'react';
import { type Loaded, useLoaded } from './loaded.ts';
import { Style } from './Styled.tsx';
import type * as Code from './tools.ts';

type Tools = typeof Code;

let loaded: Loaded<Tools> = {};

/** Loads the code that follows the first rows. */
export async function loadTools(): Promise<Tools> {
  const value = await import('./tools.ts');
  loaded = { value };
  return value;
}

/** That code, at once where it was loaded before. */
function useCode(): Loaded<Tools> {
  const later = useLoaded(loadTools, !loaded.value);
  return loaded.value ? loaded : later;
}

/** That code; undefined until it is loaded. */
export function useTools(): Tools | undefined {
  return useCode().value;
}

/** What is made of code and styles that are loaded later than the panel: shown when both are there. */
export function Dressed({ meanwhile, children }: DressedProps): ReactNode {
  const { value: tools, error } = useCode();
  if (error) throw error;
  if (!tools) return meanwhile;
  return (
    <>
      <Style css={tools.viewCss} />
      {children(tools)}
    </>
  );
}

interface DressedProps {
  /** What to show until then. Default: nothing. */
  readonly meanwhile?: ReactNode;
  readonly children: (tools: Tools) => ReactNode;
}

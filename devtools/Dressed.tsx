import type { ReactNode } from 'react';
import { useLoaded } from './loaded.ts';
import { Style } from './Shadow.tsx';

/** Children whose styles come later than the panel, as their code does: they are shown when both are here. */
export function Dressed({ meanwhile, children }: DressedProps): ReactNode {
  const { value: css, error } = useLoaded(loadCss, true);
  if (error) throw error;
  if (css === undefined) return meanwhile;
  return (
    <>
      <Style css={css} />
      {children}
    </>
  );
}

interface DressedProps {
  /** What is shown until then. Default: nothing. */
  readonly meanwhile?: ReactNode;
  readonly children: ReactNode;
}

async function loadCss(): Promise<string> {
  return (await import('./viewCss.ts')).viewCss;
}

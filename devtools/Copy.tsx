import { type ReactNode, useEffect, useState } from 'react';
import { useShownIn } from './Shadow.tsx';

/** A button that copies the result of `text`, and says whether that worked. */
export function Copy({ label, text }: CopyProps): ReactNode {
  const [outcome, setOutcome] = useState('');
  const { navigator } = useShownIn();
  useEffect(() => {
    if (!outcome) return undefined;
    const timer = setTimeout(() => setOutcome(''), 2_000);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = (): void => {
    writeClipboard(navigator, text).then(
      () => setOutcome('Copied'),
      () => setOutcome('Not copied: the browser refused'),
    );
  };
  return (
    <>
      <span role="status" className="muted">
        {outcome}
      </span>
      <button type="button" onClick={copy}>
        {label}
      </button>
    </>
  );
}

interface CopyProps {
  readonly label: string;
  readonly text: () => string | Promise<string>;
}

/** Pages outside of secure contexts have no clipboard. */
export async function writeClipboard(
  { clipboard }: Partial<Navigator>,
  text: CopyProps['text'],
): Promise<void> {
  if (!clipboard) throw new Error('This page has no clipboard.');
  await clipboard.writeText(await text());
}

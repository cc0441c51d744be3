import { type ReactNode, useEffect, useState } from 'react';
import { useShownIn } from './Shadow.tsx';

/** A button that copies what `text` gives when it is pressed, and says whether it could. */
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

/** Pages that are no secure context have no clipboard. */
export async function writeClipboard(
  { clipboard }: Partial<Navigator>,
  text: CopyProps['text'],
): Promise<void> {
  if (!clipboard) throw new Error('this page has no clipboard');
  await clipboard.writeText(await text());
}
